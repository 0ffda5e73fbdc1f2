// Cuts a stream of JSON text into its objects: one a line, or the members of one list, with any
// spaces between and inside them.
//
// Used by InspectorReader and ProfilerTraceReader.
//
// Model: what stands between objects (brackets, commas, spaces) is skipped. An object that cannot
// end is given up where the next one surely begins: at a line break inside a string, which JSON
// does not have, and at a '{' that begins a line, for no writer puts an inner object there. So a
// torn line costs itself and at most one after it.
//
// Thread-safety: belongs to one thread. Ownership: the source outlives the splitter.
// Errors: those of the source but DataLoss, which is an early end like any other (see cut()).
// Cost: one look at every byte; memory of one chunk, of kLargestObject at most.
#ifndef FATHOM_COLLECTOR_IMPORT_NCCL_OBJECT_SPLITTER_H_
#define FATHOM_COLLECTOR_IMPORT_NCCL_OBJECT_SPLITTER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace fathom::collector::nccl {

// Up to `size` bytes into `to`; 0 at the end.
using ByteSource = std::function<absl::StatusOr<std::size_t>(char* to, std::size_t size)>;

class ObjectSplitter {
 public:
  static constexpr std::size_t kChunkBytes = 256 * 1024;
  // Of one op with every event of 64 channels it is some 20 KiB.
  static constexpr std::size_t kLargestObject = 1 << 20;
  static constexpr std::size_t kPadding = 64;  // readable bytes behind every object

  explicit ObjectSplitter(ByteSource source, std::size_t chunk_bytes = kChunkBytes);

  // The next object, valid until the next call; empty at the end.
  absl::StatusOr<std::string_view> Next();

  std::uint64_t offset() const { return dropped_ + begin_; }  // of the object given last
  std::uint64_t given_up() const { return given_up_; }        // objects that could not end
  bool cut() const { return cut_; }                           // the stream ended inside an object
  std::uint64_t bytes() const { return dropped_ + size_; }

 private:
  absl::StatusOr<bool> More();
  bool Take(char c);  // true: an object is whole with it
  void GiveUp();

  ByteSource source_;
  const std::size_t chunk_bytes_;
  std::vector<char> buffer_;
  std::size_t size_ = 0;
  std::size_t at_ = 0;     // looked at so far
  std::size_t begin_ = 0;  // of the object, while depth_ > 0
  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool line_began_ = true;  // nothing stands before at_ in its line
  bool ended_ = false;
  bool cut_ = false;
  std::uint64_t dropped_ = 0;
  std::uint64_t given_up_ = 0;
};

}  // namespace fathom::collector::nccl

#endif  // FATHOM_COLLECTOR_IMPORT_NCCL_OBJECT_SPLITTER_H_
