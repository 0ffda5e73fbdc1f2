// What collectors keep of a job's ops, fetched into a folder of its own, so that it can be read as
// a store of ops is.
//
// Used by analyze for job://NAME with --collector-http. Model: any collector lists what all of them
// keep; files are fetched in parts, each into a folder named after its collector. What is missing
// (a collector that is away, a file that went meanwhile) is in notes(), in words, and the rest is
// there. The folder goes with the object.
//
// Units: wall ns, 0 for no bound. Thread-safety: single-threaded. Errors: as of CollectorApi;
// kNotFound where nobody keeps anything of the job; kUnavailable where the folder takes nothing.
// Cost: the files, on the disk of TMPDIR.
#ifndef FATHOM_COLLECTOR_CLI_HTTP_FETCHED_OPS_H_
#define FATHOM_COLLECTOR_CLI_HTTP_FETCHED_OPS_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/cli/http/http_client.h"
#include "collector/cli/text/json_fields.h"
#include "proto/types/time_units.h"

namespace fathom::cli {

class FetchedOps {
 public:
  static absl::StatusOr<std::unique_ptr<FetchedOps>> Of(const HttpClient& client,
                                                        const std::string& job, WallNs from,
                                                        WallNs to);
  ~FetchedOps();
  FetchedOps(const FetchedOps&) = delete;
  FetchedOps& operator=(const FetchedOps&) = delete;

  const std::vector<std::string>& paths() const { return paths_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  FetchedOps(const HttpClient& client, std::string job, std::filesystem::path folder)
      : client_(client), job_(std::move(job)), folder_(std::move(folder)) {}

  absl::Status Fetch(const Json& part);
  // The body of an answer that is well.
  absl::StatusOr<std::string> Ask(const std::string& path) const;
  absl::Status FetchFile(const std::string& collector, const Json& file,
                         const std::filesystem::path& into);
  void Note(const Json& lack);

  const HttpClient& client_;  // while Of runs
  const std::string job_;
  const std::filesystem::path folder_;
  std::vector<std::string> paths_;
  std::vector<std::string> notes_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_HTTP_FETCHED_OPS_H_
