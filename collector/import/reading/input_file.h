// Reading files that may be compressed: plain, gzip or zstd, told by content.
//
// Used by all importers and by recognise.cc. Streams; nothing is held beyond one block.
//
// Thread-safety: an InputFile belongs to one thread. Errors: NotFound, PermissionDenied, DataLoss
// (compressed data broken or cut: what was inflated before has been returned), ResourceExhausted
// (limits); messages start with the path. Cost: inflating gzip runs at some 400 MB/s a core of
// output.
#ifndef FATHOM_COLLECTOR_IMPORT_READING_INPUT_FILE_H_
#define FATHOM_COLLECTOR_IMPORT_READING_INPUT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "collector/import/reading/importer.h"

namespace fathom::collector {

inline constexpr std::size_t kReadAtOnce = 256 * 1024;

class InputFile {
 public:
  // `at_once`: the largest piece to ask the file for.
  static absl::StatusOr<InputFile> Open(const std::string& path, const ImportLimits& limits,
                                        std::size_t at_once = kReadAtOnce);

  InputFile(InputFile&&) noexcept;
  InputFile& operator=(InputFile&&) noexcept;
  ~InputFile();

  // Up to `size` bytes into `to`; 0 at the end of the file.
  absl::StatusOr<std::size_t> Read(char* to, std::size_t size);

  std::uint64_t offset() const;  // inflated bytes returned so far

 private:
  struct State;
  explicit InputFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The first bytes of the file, at most kHeadBytes.
absl::StatusOr<std::string> ReadHead(const std::string& path, const ImportLimits& limits);

// The whole file, at most limits.dump_bytes. `cut`, if given, is set when a compressed file ended
// early; then what could be inflated is returned.
absl::StatusOr<std::string> ReadWhole(const std::string& path, const ImportLimits& limits,
                                      bool* cut = nullptr);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_READING_INPUT_FILE_H_
