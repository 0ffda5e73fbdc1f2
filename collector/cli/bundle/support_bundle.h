// What a stranger needs to help: versions, settings, metrics, what the collector knows, logs, and
// what `fathom doctor` says; with secrets taken out.
//
// Used by `fathom export bundle`. Gathers everything first, because what is learnt late (a token's
// file named in the environment) must be missing from what came early; then gives it, redacted.
// Only settings and environment may name a token's file: logs are not searched for one.
//
// Bounds: kLogBytes of each log, from its end; kMaxJobs jobs. Reads only; asks only the addresses
// it is given. Thread-safety: single-threaded. Errors: none; what could not be had is listed in
// missing.txt, with the reason. Cost: some seconds.
#ifndef FATHOM_COLLECTOR_CLI_BUNDLE_SUPPORT_BUNDLE_H_
#define FATHOM_COLLECTOR_CLI_BUNDLE_SUPPORT_BUNDLE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/cli/bundle/redaction.h"
#include "collector/cli/http/http_client.h"
#include "collector/cli/process/trace_environment.h"

namespace fathom::cli {

struct BundleSources {
  std::string collector_http, agent_http, cordon_http;  // HOST:PORT
  std::vector<std::string> settings;                    // files
  std::vector<std::string> logs;                        // files
  std::string python;                                   // the job's, for doctor
  Environment environment;                              // of this process
};

class SupportBundle {
 public:
  static constexpr std::size_t kLogBytes = 1 << 20;
  static constexpr std::size_t kMaxJobs = 20;

  explicit SupportBundle(BundleSources sources);

  void Gather();
  // (name, text), redacted.
  std::vector<std::pair<std::string, std::string>> Files() const;
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  // Where one is, and what is shown there; not ok: it cannot be asked.
  using Server = absl::StatusOr<HostPort>;

  void GatherVersions();
  void GatherSettings();
  void GatherEnvironment();
  void GatherCollector();
  void GatherAgent();
  void GatherCordon();
  void GatherLogs();
  void GatherDoctor();
  // The reply of `server`, whatever its status, also into file `name`; missing where there is none.
  std::optional<HttpReply> Ask(const Server& server, const std::string& path,
                               const std::string& name);
  void Put(const std::string& name, std::string text);
  void Miss(const std::string& what, const std::string& why);

  const BundleSources sources_;
  const Server collector_, agent_, cordon_;
  Redaction redaction_;
  std::vector<std::pair<std::string, std::string>> files_;
  std::vector<std::string> missing_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_BUNDLE_SUPPORT_BUNDLE_H_
