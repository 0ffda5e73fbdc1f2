// How the blocks of a recording lie in its file; what is in them is fathom.v1.RecordingBlock.
//
// Written by daemon/agent/recorder, read by collector/import/fathom. docs/formats/recording.md.
//
//   file    block | block | …                            appended, never changed
//   block   magic 8 | stored u32 | raw u32 | stored bytes: one zstd frame with its checksum
//
// Numbers are little-endian bytes. A file may end anywhere: what its last block lacks is lost, all
// before it is whole. Another magic is another version. std only. Thread-safety: pure functions.
#ifndef FATHOM_PROTO_TYPES_RECORDING_FORMAT_H_
#define FATHOM_PROTO_TYPES_RECORDING_FORMAT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fathom {

inline constexpr std::string_view kRecordingMagic = "FATHOM\x01R";  // version 1
inline constexpr std::string_view kRecordingSuffix = ".fathom";
inline constexpr std::size_t kRecordingHeaderBytes = 16;
// What a writer never exceeds and a reader never accepts more of, inflated.
inline constexpr std::uint32_t kMaxRecordingBlockBytes = 16 << 20;

struct RecordingBlockSize {
  std::uint32_t stored = 0;  // bytes that follow the header
  std::uint32_t raw = 0;     // bytes of the RecordingBlock
};

using RecordingHeader = std::array<char, kRecordingHeaderBytes>;

inline RecordingHeader ToHeader(RecordingBlockSize size) {
  RecordingHeader out{};
  for (std::size_t i = 0; i < kRecordingMagic.size(); ++i) out[i] = kRecordingMagic[i];
  for (std::size_t i = 0; i < 4; ++i) {
    out[8 + i] = static_cast<char>(size.stored >> (8 * i));
    out[12 + i] = static_cast<char>(size.raw >> (8 * i));
  }
  return out;
}

// Requires: bytes.size() >= kRecordingHeaderBytes. The sizes are as they stand there, unchecked.
inline RecordingBlockSize FromHeader(std::string_view bytes) {
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    }
    return value;
  };
  return {number(8), number(12)};
}

}  // namespace fathom

#endif  // FATHOM_PROTO_TYPES_RECORDING_FORMAT_H_
