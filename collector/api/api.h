// Answers every request but the event stream: /api/v1, /metrics, /healthz, /readyz and the page.
//
// Called by HttpServer on its threads, and by tests without a socket. docs/formats/http_api.md
// is the contract. POST: a window of detail (jobs/JOB/profile), a capture of stacks
// (…/capture), what is traced (…/trace), stacks (…/stacks), probes of nodes (probes), and what
// fathom-cordon is told by a person (actions/…). Its members lie in api.cc (routes), api_jobs.cc,
// api_nodes.cc, api_trace.cc and api_views.cc, by what they answer about.
//
// Thread-safety: thread-safe (reads thread-safe parts). Ownership: refers to Parts, which outlive
// it; …/pictures and …/bandwidth ask agents for rows through them. Errors: JSON {"error": what to
// do} with 400, 403, 404, 405, 409, 415, 429 or 503; where the history does not answer, lists say
// what they lack, and what comes from it alone is 503. Cost: jobs and verdicts cheap; …/report runs
// one diagnosis (some ms, 0.3 s at 10,000 ranks), …/iterations writes one number a rank, iteration
// and series; …/pictures, …/perfetto and …/communicators copy the job's window first; losses reads
// the verdicts of all its weeks.
#ifndef FATHOM_COLLECTOR_API_API_H_
#define FATHOM_COLLECTOR_API_API_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/agents/hardware_table.h"
#include "collector/agents/session_registry.h"
#include "collector/evaluate/diagnoser.h"
#include "collector/evaluate/hand_captures.h"
#include "collector/http/answerer.h"
#include "collector/http/json_writer.h"
#include "collector/http/request.h"
#include "collector/job/state/job_table.h"
#include "collector/process/clock.h"
#include "collector/store/store.h"
#include "collector/verdict/node_history.h"
#include "collector/verdict/verdict_ledger.h"
#include "diagnosis/ledger/running/running_account.h"
#include "diagnosis/watch/watch.h"

namespace fathom::v1 {
class Report;
}

namespace fathom::collector {

struct CentrePlan;

class Api final : public Answerer {
 public:
  static constexpr std::int64_t kMaxIterations = 2000;
  static constexpr std::int64_t kDefaultIterations = 300;
  static constexpr std::int64_t kMaxVerdicts = 1000;
  static constexpr std::int64_t kMaxRuns = 1000;
  static constexpr std::int64_t kDefaultRuns = 50;
  static constexpr std::int64_t kDefaultLossHours = 30 * 24;
  static constexpr std::int64_t kMaxLossHours = 2 * 365 * 24;

  struct Parts {
    JobTable& jobs;
    SessionRegistry& registry;
    VerdictLedger& ledger;
    Diagnoser& diagnoser;
    Store& store;
    std::function<std::string()> metrics;  // Prometheus text
    std::function<bool()> ready;           // everything was started
    const Clock& clock;
    NodeHistorySettings node_history;
    // Opens a window of detail; empty: not offered.
    std::function<absl::Status(JobState&, const WindowWish&)> profile{};
    // Asks agents for rows that are missing; how many answers are on their way. Empty: none.
    std::function<int(const std::shared_ptr<JobState>&, const diagnosis::RowsWanted&)> rows{};
    // What fathom-cordon did and would do, as JSON, and who asks. Empty: there is none.
    std::function<std::string(const Request&)> actions{};
    // Tells fathom-cordon what a person wants. Set where `actions` is.
    std::function<Response(const Request&)> command{};
    // Switches sources of a job's tracers, and reads stacks of its ranks. Empty: not offered.
    std::function<absl::Status(JobState&, const SwitchWish&)> trace{};
    std::function<absl::Status(JobState&, const std::vector<RankId>&)> stacks{};
    // Why what agents tell is not written to the journal; empty: it is, or there is none.
    std::function<std::string()> journal_failing = [] { return std::string(); };
    // The run that a job of the table is. Empty: not kept.
    std::function<RunRecord(const std::string& job)> run{};
    // What the nodes' hardware says. Null: nothing is known of it.
    const HardwareTable* hardware = nullptr;
    // Captures of stacks that people ask for. Null: not offered.
    HandCaptures* captures = nullptr;
    // The account of all iterations of a job of the table so far. Empty: not kept.
    std::function<std::optional<diagnosis::RunningAccount::State>(const std::string& job)>
        account{};
    // What is asked and told about probes of nodes (api/probes). Empty: not offered.
    std::function<Response(const Request&)> probes{};
    // What this collector does at which rate. Empty: not told.
    std::function<CentrePlan()> plan{};
  };

  explicit Api(Parts parts) : parts_(std::move(parts)) {}

  Response Answer(const Request& request) const override;
  std::vector<std::string> JobObjects(const std::string& job) const override;
  // The report of a job of the table as proto-JSON.
  std::string ReportOf(const JobState& job) const;

 private:
  Response AnswerApi(const Request& request) const;
  Response Jobs() const;
  Response AnswerJob(const Request& request) const;
  Response Job(const JobState& job) const;
  Response Iterations(const JobState& job, const Request& request) const;
  Response Profile(JobState& job, const Request& request) const;
  Response Trace(JobState& job, const Request& request) const;
  Response Hardware(const JobState& job, const Request& request) const;
  Response Stacks(JobState& job, const Request& request) const;
  Response Capture(const JobState& job, const Request& request) const;
  Response Pictures(const std::shared_ptr<JobState>& job, const Request& request) const;
  Response Perfetto(const JobState& job) const;
  Response Work(const JobState& job) const;
  Response Bandwidth(const std::shared_ptr<JobState>& job, const Request& request) const;
  Response Communicators(const JobState& job, const Request& request) const;
  Response Verdicts(const Request& request) const;
  Response Verdict(const std::string& id) const;
  Response Actions(const Request& request) const;
  Response Losses(const Request& request) const;
  Response Nodes() const;
  Response Node(const std::string& name) const;
  Response Plan(const Request& request) const;
  Response Probes(const Request& request) const;
  bool IsRunning(const RunRecord& run) const;
  Response Runs(const Request& request) const;
  Response Run(const std::string& id) const;
  Response CompareRuns(const std::string& before, const std::string& after) const;
  // That its history is not there to compare with, in a report.
  void TellOfHistory(const std::string& job, v1::Report& report) const;
  // Adds what stands and the history lacks while it does not answer.
  void AddStanding(const std::function<bool(const Episode&)>& wanted,
                   std::vector<Episode>& episodes) const;
  // Of a list that is read from the history, why it may lack something: the field `lacks`.
  void WriteLacks(JsonWriter& json) const;
  // 503 where what was read a moment ago could not be; nothing where it could.
  std::optional<Response> Unread() const;
  Response Ready() const;
  static Response Page(const Request& request);

  const Parts parts_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_API_H_
