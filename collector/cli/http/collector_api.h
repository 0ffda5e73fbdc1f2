// The collector's HTTP API as the command line uses it: paths in, JSON out, errors in words.
//
// Used by get, explain, watch, profile, trace, doctor, export, by `run` for the report, and by
// fathom-fleet for the path of events. Thread-safety: thread-compatible. Errors: one line that says
// what to do, ready to be printed: kUnavailable (nobody answers), kInternal (an answer that is not
// the API's), and the collector's own errors: kNotFound, kInvalidArgument, kFailedPrecondition.
#ifndef FATHOM_COLLECTOR_CLI_HTTP_COLLECTOR_API_H_
#define FATHOM_COLLECTOR_CLI_HTTP_COLLECTOR_API_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "collector/cli/http/http_client.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

class CollectorApi {
 public:
  explicit CollectorApi(HttpClient client) : client_(std::move(client)) {}

  absl::StatusOr<Json> Jobs() const { return Fetch("/api/v1/jobs", "jobs"); }
  // What agents do at which rate: of a node or of those of a job, empty: all.
  absl::StatusOr<Json> Plan(const std::string& node, const std::string& job) const;
  absl::StatusOr<Json> Nodes() const { return Fetch("/api/v1/nodes", "nodes"); }
  absl::StatusOr<Json> Node(std::string_view name) const;
  absl::StatusOr<Json> Job(std::string_view job) const { return FetchJob(job, ""); }
  absl::StatusOr<Json> Health(std::string_view job) const { return FetchJob(job, "/health"); }
  absl::StatusOr<Json> Report(std::string_view job) const { return FetchJob(job, "/report"); }
  // The newest window of detail of a job; AskProfile opens one.
  absl::StatusOr<Json> Profile(std::string_view job) const { return FetchJob(job, "/profile"); }
  absl::StatusOr<Json> AskProfile(std::string_view job, std::int64_t seconds,
                                  std::int64_t iterations, std::string_view ranks) const;
  // The newest capture of stacks, with all stacks where they are wanted; AskCapture asks for one.
  absl::StatusOr<Json> Capture(std::string_view job, bool stacks) const {
    return FetchJob(job, stacks ? "/capture?stacks=1" : "/capture");
  }
  absl::StatusOr<Json> AskCapture(std::string_view job, std::int64_t seconds,
                                  std::int64_t iterations, bool native,
                                  std::string_view ranks) const;
  // The newest order to switch sources, and the stacks asked for last; Ask… orders.
  absl::StatusOr<Json> Trace(std::string_view job) const { return FetchJob(job, "/trace"); }
  absl::StatusOr<Json> AskTrace(std::string_view job, std::string_view off, std::string_view on,
                                std::string_view ranks) const;
  // Of the iterations named ("154,151"; empty: the newest), from the rows at hand: "asked" tells
  // how many more are on their way.
  absl::StatusOr<Json> Bandwidth(std::string_view job, std::string_view iterations) const;
  absl::StatusOr<Json> Stacks(std::string_view job) const { return FetchJob(job, "/stacks"); }
  absl::StatusOr<Json> AskStacks(std::string_view job, std::string_view ranks) const;
  // An order for probes, and what a POST to `path` (an order, or an end to one) is answered.
  absl::StatusOr<Json> ProbeOrder(std::string_view id) const;
  absl::StatusOr<Json> Order(std::string_view path, const char* must_have) const;
  // What probes found of a node, the newest first; what fathom-cordon did.
  absl::StatusOr<Json> NodeProbes(std::string_view name) const;
  absl::StatusOr<Json> Actions() const { return Fetch("/api/v1/actions", "actions"); }
  // Kept runs, the newest first; empty `job`: of all jobs.
  // Operations, MFU and void time of its newest iterations.
  absl::StatusOr<Json> Work(std::string_view job) const;
  absl::StatusOr<Json> Runs(std::string_view job) const;
  // What was used and lost in the last so many hours.
  absl::StatusOr<Json> Losses(std::int64_t hours) const;
  absl::StatusOr<Json> CompareRuns(std::string_view before, std::string_view after) const;
  absl::StatusOr<Json> Verdicts(std::string_view job, bool active_only) const;
  // Tells how a recovery of the job stands: recovery/told_recovery.h.
  absl::Status TellRecovery(std::string_view job, std::string_view told) const;
  absl::StatusOr<Json> Verdict(std::string_view id) const;

  const HostPort& server() const { return client_.server(); }

  // The path of the event stream; `job` may be empty for all.
  static std::string EventsPath(std::string_view job);

 private:
  // `must_have`: a field without which the answer is not this API's; empty for none.
  absl::StatusOr<Json> Fetch(std::string_view path, const char* must_have) const;
  absl::StatusOr<Json> Read(const absl::StatusOr<HttpReply>& reply, const char* must_have) const;
  absl::StatusOr<Json> FetchJob(std::string_view job, std::string_view part) const;

  HttpClient client_;
};

// What to print when `server` did not answer.
std::string UnreachableText(const HostPort& server, const absl::Status& why);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_HTTP_COLLECTOR_API_H_
