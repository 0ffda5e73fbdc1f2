// The entries of several recording files, in order of time.
//
// Used by fathom_importer. docs/formats/recording.md.
//
// Model: of each file the next entry is at hand, and the oldest of them comes first; of two of the
// same moment the one of the file named first. Within `limits.from` and `limits.to`: of what came
// before, only who takes part is told; a file is left at the first entry beyond.
//
// Thread-safety: belongs to one thread. Ownership: owns the files; `notes` must outlive it and has
// what was left out once this is gone. Errors: a file that cannot be read further is a note.
// Cost: a block of each file in memory.
#ifndef FATHOM_COLLECTOR_IMPORT_FATHOM_MERGED_FILES_H_
#define FATHOM_COLLECTOR_IMPORT_FATHOM_MERGED_FILES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "collector/import/fathom/recording_file.h"

namespace fathom::collector {

class MergedFiles {
 public:
  MergedFiles(const std::vector<std::string>& paths, const ImportLimits& limits,
              std::vector<std::string>& notes);
  ~MergedFiles();
  MergedFiles(const MergedFiles&) = delete;
  MergedFiles& operator=(const MergedFiles&) = delete;

  bool empty() const { return queue_.empty(); }
  // These require: !empty().
  std::size_t file() const { return queue_.top().second; }
  const v1::RecordingEntry& entry() const { return *next_[file()]; }
  const std::string& path() const { return files_[file()].path(); }
  void Pop();
  // The rest of the present file is not wanted.
  void Drop() { queue_.pop(); }

 private:
  using Waiting = std::pair<std::int64_t, std::size_t>;  // wall ns, file

  void Advance(std::size_t file);
  bool Wanted(const v1::RecordingEntry& entry) const;

  const WallNs from_, to_;
  std::vector<std::string>& notes_;
  std::vector<RecordingFile> files_;
  std::vector<const v1::RecordingEntry*> next_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_FATHOM_MERGED_FILES_H_
