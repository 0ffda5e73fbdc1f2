// Reads the collector's API and turns it into facts: verdicts, and which nodes a job is on.
//
// Called by the actuator once a look. Only GET; a collector that answers strangely is treated like
// one that does not answer.
//
// Thread-safety: thread-compatible. Ownership: refers to the transport. Errors: Unavailable with
// the reason. Cost: two requests, and one for each job with an established verdict (at most
// kMaxJobs).
#ifndef FATHOM_COLLECTOR_CORDON_ADVICE_ADVICE_SOURCE_H_
#define FATHOM_COLLECTOR_CORDON_ADVICE_ADVICE_SOURCE_H_

#include <absl/status/status.h>

#include <set>
#include <string>
#include <string_view>

#include "collector/cordon/policy/facts.h"
#include "collector/net/http_transport.h"

namespace fathom::cordon {

class AdviceSource {
 public:
  static constexpr std::size_t kMaxJobs = 64;

  // `token_file` may be empty; it is read at each look.
  AdviceSource(std::string collector_url, std::string token_file,
               collector::HttpTransport& transport)
      : url_(std::move(collector_url)), token_file_(std::move(token_file)), transport_(transport) {}

  // Fills verdicts and job_nodes; verdicts_known tells whether all of it is there. A verdict whose
  // job the collector does not know, or calls ended, is of a job that does not run.
  absl::Status Read(View& view);

 private:
  absl::Status Get(const std::string& path, std::string& body);
  absl::Status ReadVerdicts(const std::string& path, View& view);
  absl::Status ReadJob(const std::string& job, View& view);

  const std::string url_;
  const std::string token_file_;
  collector::HttpTransport& transport_;
};

// The verdicts of an answer of /api/v1/verdicts, added to `view`. Errors: InvalidArgument.
absl::Status ReadVerdictsJson(std::string_view json, View& view);
// The nodes of an answer of /api/v1/jobs/JOB, and whether it runs. Errors: InvalidArgument.
absl::Status ReadJobJson(std::string_view json, std::set<std::string>& nodes, bool& runs);

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_ADVICE_ADVICE_SOURCE_H_
