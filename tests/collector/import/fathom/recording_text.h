// Recordings as an agent would write them, for tests and fuzzers.
//
// Thread-safety: plain values. Errors: none; a file that cannot be written is empty.
#ifndef FATHOM_TESTS_COLLECTOR_IMPORT_FATHOM_RECORDING_TEXT_H_
#define FATHOM_TESTS_COLLECTOR_IMPORT_FATHOM_RECORDING_TEXT_H_

#include <zstd.h>

#include <string>

#include "fathom/v1/recording.pb.h"
#include "proto/types/recording_format.h"

namespace fathom::collector {

// One block around any bytes.
inline std::string PackBlock(const std::string& raw) {
  std::string frame(ZSTD_compressBound(raw.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), raw.data(), raw.size(), 1));
  const RecordingHeader header =
      ToHeader({static_cast<std::uint32_t>(frame.size()), static_cast<std::uint32_t>(raw.size())});
  return std::string(header.data(), header.size()) + frame;
}

// Gathers entries; each Seal() begins a new block.
class RecordingText {
 public:
  void Add(const v1::AgentMessage& message, std::int64_t wall_ns, std::int64_t mono_ns) {
    v1::RecordingEntry& entry = *block_.add_entries();
    *entry.mutable_message() = message;
    entry.set_wall_ns(wall_ns);
    entry.set_mono_ns(mono_ns);
  }
  void Seal() {
    text_ += PackBlock(block_.SerializeAsString());
    block_.Clear();
  }
  std::string Take() {
    if (block_.entries_size() > 0) Seal();
    return std::move(text_);
  }

 private:
  v1::RecordingBlock block_;
  std::string text_;
};

}  // namespace fathom::collector

#endif  // FATHOM_TESTS_COLLECTOR_IMPORT_FATHOM_RECORDING_TEXT_H_
