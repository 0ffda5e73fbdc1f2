// Where the fields of CUPTI's activity records lie that a window keeps.
//
// Used by window_file.cc. CUPTI appends to its records with each toolkit (kernels are at version
// 13) and packs them; the fields below have not moved since CUDA 10.1. tests/daemon/tracer/cuda
// assert them for every version that the header declares.
//
//   record            start  end  copy kind, value, type   bytes  stream  correlation  name
//   kernel 4 to 13      16    24            –                –      48        92        104
//   memcpy 3 to 7       16    24            4                8      40        44         –
//   memset 2 to 5       16    24            4                8      40        44         –
//   synchronization 1–2  8    16            4                –      32        24         –
//   overhead 1 to 3     24    32            4                –       –         –         –
//
// Overheads have a correlation from version 2 on, which is not kept, and from version 3 on at 48 a
// block of details, where their kind has them, that whoever reads the record has to free. Every
// CUPTI that a window opens with has version 3 (CUDA 12.6 and later).
//
// Thread-safety: constants.
#ifndef FATHOM_DAEMON_TRACER_CUPTI_ACTIVITY_LAYOUT_H_
#define FATHOM_DAEMON_TRACER_CUPTI_ACTIVITY_LAYOUT_H_

#include <cstddef>
#include <cstdint>

namespace fathom::tracer {

inline constexpr std::size_t kNoField = ~std::size_t{0};

// CUpti_ActivityKind.
enum CuptiKind : std::uint32_t {
  kCuptiMemcpy = 1,
  kCuptiMemset = 2,
  kCuptiConcurrentKernel = 10,
  kCuptiOverhead = 17,
  kCuptiSynchronization = 38,
};

struct ActivityLayout {
  std::size_t start, end, detail, bytes, stream, correlation, name;
};
inline constexpr ActivityLayout kKernelLayout = {16, 24, kNoField, kNoField, 48, 92, 104};
inline constexpr ActivityLayout kMemcpyLayout = {16, 24, 4, 8, 40, 44, kNoField};
inline constexpr ActivityLayout kMemsetLayout = {16, 24, kNoField, 8, 40, 44, kNoField};
inline constexpr ActivityLayout kSyncLayout = {8, 16, 4, kNoField, 32, 24, kNoField};
inline constexpr ActivityLayout kOverheadLayout = {24,       32,       4,       kNoField,
                                                   kNoField, kNoField, kNoField};
inline constexpr std::size_t kOverheadDetails = 48;
inline constexpr std::uint32_t kOverheadQueueFull = 6 << 16;  // the kind that has details

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CUPTI_ACTIVITY_LAYOUT_H_
