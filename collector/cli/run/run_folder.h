// The private folder of one run, in shared memory: the rings, and the logs of our companions.
//
//   /dev/shm/fathom-run-<pid>-XXXXXX/   0700
//     owner.lock      flock'ed as long as the run lives
//     rings/          FATHOM_SHM_DIR of the command
//     agent.log, collector.log
//
// Used by TracingSession, and by fathom-fleet for a collector of its own. Ownership: the folder and
// all in it go with the object. What a run that was killed left behind is found by its free lock
// and removed by the next run of the same user. Thread-safety: single-threaded. Errors:
// kUnavailable, saying what to do.
#ifndef FATHOM_COLLECTOR_CLI_RUN_RUN_FOLDER_H_
#define FATHOM_COLLECTOR_CLI_RUN_RUN_FOLDER_H_

#include <filesystem>
#include <memory>

#include "absl/status/statusor.h"

namespace fathom::cli {

class RunFolder {
 public:
  static absl::StatusOr<std::unique_ptr<RunFolder>> Make(const std::filesystem::path& parent);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path rings() const { return path_ / "rings"; }

 private:
  RunFolder(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::filesystem::path path_;
  int lock_;
};

// Removes the folders under `parent` that no living run owns; returns how many.
int SweepRunFolders(const std::filesystem::path& parent);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RUN_RUN_FOLDER_H_
