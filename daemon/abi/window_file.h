// What a detail window leaves behind: a file of GPU activity beside the ring.
//
// `<pid>-<generation>-<ticket>.window`, made by daemon/tracer/cupti when a window opens, complete
// when `ready` is set. Its reader removes it. docs/formats/window.md draws it.
//
//   offset 0           4096                 +128 KiB
//   +-----------------+--------------------+--------------------------+
//   | WindowFileHeader | char names[1024][128] | WindowRecord[record_count ≤ capacity] |
//   +-----------------+--------------------+--------------------------+
//
// Units: start_ns on CUPTI's clock; the two pairs of moments (opened, closed) tie it to the node's
// CLOCK_MONOTONIC, and their difference is how far the clocks ran apart in the window.
// Thread-safety: the header's counts are atomics; the rest is written before `ready` (release).
// Zero-filled memory: an unfinished file without records.
#ifndef FATHOM_DAEMON_ABI_WINDOW_FILE_H_
#define FATHOM_DAEMON_ABI_WINDOW_FILE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fathom::abi {

inline constexpr std::uint64_t kWindowMagic = 0x314e49574d485446;  // "FTHMWIN1" in memory
inline constexpr std::uint32_t kWindowVersion = 1;
inline constexpr std::uint32_t kWindowNames = 1024;
inline constexpr std::uint32_t kWindowNameBytes = 128;
inline constexpr std::uint32_t kWindowRecords = 64 * 1024;
inline constexpr std::uint16_t kNoWindowName = 0xffff;

enum class ActivityKind : std::uint8_t {
  kNone = 0,
  kKernel = 1,
  kCopy = 2,      // detail: CUpti_ActivityMemcpyKind
  kMemset = 3,    // detail: 0
  kSync = 4,      // detail: CUpti_ActivitySynchronizationType; a wait of the host, not of the GPU
  kOverhead = 5,  // detail: OverheadDetail; time of the host, by CUPTI itself or by the driver
};

// CUpti_ActivityOverheadKind in a byte: those from 1 << 16 on, by which CUPTI numbers its own, are
// kOverheadHigh plus the upper half.
inline constexpr std::uint8_t kOverheadHigh = 16;
constexpr std::uint8_t OverheadDetail(std::uint32_t kind) {
  if (kind < kOverheadHigh) return static_cast<std::uint8_t>(kind);
  const std::uint32_t high = kind >> 16;
  return high < 0x80 ? static_cast<std::uint8_t>(kOverheadHigh + high) : 0;
}

struct WindowRecord {
  std::int64_t start_ns;
  std::uint32_t duration_ns;  // cut at 4.29 s
  std::uint16_t name;         // index into names, kNoWindowName without one
  std::uint8_t kind;          // ActivityKind
  std::uint8_t detail;
  std::uint32_t stream;       // CUPTI's number of the stream
  std::uint32_t correlation;  // CUPTI's number of the API call
  std::uint64_t bytes;        // of copies and memsets
};

// The same moment on both clocks.
struct ClockPair {
  std::int64_t mono_ns;
  std::int64_t cupti_ns;
  std::int64_t width_ns;  // the moment lies within mono_ns ± width_ns / 2
};

struct WindowFileHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t ticket;
  std::uint32_t pid;
  std::uint32_t generation;
  std::uint32_t cupti_version;
  std::uint32_t record_bytes;
  std::uint32_t capacity;  // records
  std::uint32_t name_slots;
  std::uint32_t name_bytes;
  std::uint32_t reserved0;
  ClockPair opened;
  ClockPair closed;
  std::atomic<std::uint32_t> record_count;
  std::atomic<std::uint32_t> name_count;
  std::atomic<std::uint32_t> lost;  // records that did not fit or were not finished
  std::atomic<std::uint32_t> ready;
};

inline constexpr std::size_t kWindowNamesOffset = 4096;
inline constexpr std::size_t kWindowRecordsOffset =
    kWindowNamesOffset + std::size_t{kWindowNames} * kWindowNameBytes;
inline constexpr std::size_t kWindowFileBytes =
    kWindowRecordsOffset + std::size_t{kWindowRecords} * sizeof(WindowRecord);

static_assert(sizeof(WindowRecord) == 32);
static_assert(offsetof(WindowFileHeader, opened) == 48);
static_assert(offsetof(WindowFileHeader, record_count) == 96);
static_assert(sizeof(WindowFileHeader) <= kWindowNamesOffset);

}  // namespace fathom::abi

#endif  // FATHOM_DAEMON_ABI_WINDOW_FILE_H_
