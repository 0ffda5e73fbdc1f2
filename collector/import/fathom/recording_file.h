// One recording file of an agent, entry by entry.
//
// Used by fathom_importer. docs/formats/recording.md; the layout is proto/types/recording_format.h.
//
// Model: Next() gives the entries in the order in which they were written. A block that is cut,
// does not inflate or is no message is left out, and the reading goes on at the next magic; what
// was left out is told by notes(), with the offset in the file (inflated, if it was zipped again).
//
// Thread-safety: belongs to one thread. Errors: of opening and reading the file; of limits.
// Cost: one block in memory, at most kMaxRecordingBlockBytes inflated.
#ifndef FATHOM_COLLECTOR_IMPORT_FATHOM_RECORDING_FILE_H_
#define FATHOM_COLLECTOR_IMPORT_FATHOM_RECORDING_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/import/reading/input_file.h"
#include "fathom/v1/recording.pb.h"

namespace fathom::collector {

class RecordingFile {
 public:
  static absl::StatusOr<RecordingFile> Open(const std::string& path, const ImportLimits& limits);

  // The next entry, valid until the next call; nullptr at the end of the file.
  absl::StatusOr<const v1::RecordingEntry*> Next();

  const std::string& path() const { return path_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  RecordingFile(std::string path, InputFile file)
      : path_(std::move(path)), file_(std::move(file)) {}
  absl::StatusOr<bool> NextBlock();
  // Makes `size` bytes ready at buffer_[at_]; false: the file ends before.
  absl::StatusOr<bool> Need(std::size_t size);
  // Whether a whole block header stands at the buffer's front; looks further where none does.
  absl::StatusOr<bool> FindHeader();
  [[nodiscard]] bool Inflate(std::string_view stored, std::size_t raw_bytes);
  void Note(std::string_view what);
  // Of the block at at_; the search for the next one says no more.
  void LeaveOut(std::string_view why);
  std::size_t left() const { return buffer_.size() - at_; }

  std::string path_;
  InputFile file_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t dropped_ = 0;  // bytes of the file that are no longer in the buffer
  std::string raw_;
  v1::RecordingBlock block_;
  int next_entry_ = 0;
  bool searching_ = false;
  std::vector<std::string> notes_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_FATHOM_RECORDING_FILE_H_
