// Where the fields of CUPTI's activity records lie that a window keeps.
//
// Used by window_file.cc. CUPTI appends to its records with each toolkit (kernels are at version
// 13) and packs them; the fields below have not moved since CUDA 10.1. tests/daemon/tracer/cuda
// assert them for every version that the header declares.
//
//   record            start  end  copy kind, value, type   bytes  stream  correlation  name
//   kernel 4 to 13      16    24            –                –      48        92        104
//   memcpy 3 to 6       16    24            4                8      40        44         –
//   memset 2 to 4       16    24            4                8      40        44         –
//   synchronization 1–2  8    16            4                –      32        24         –
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
  kCuptiSynchronization = 38,
};

struct ActivityLayout {
  std::size_t start, end, detail, bytes, stream, correlation, name;
};
inline constexpr ActivityLayout kKernelLayout = {16, 24, kNoField, kNoField, 48, 92, 104};
inline constexpr ActivityLayout kMemcpyLayout = {16, 24, 4, 8, 40, 44, kNoField};
inline constexpr ActivityLayout kMemsetLayout = {16, 24, kNoField, 8, 40, 44, kNoField};
inline constexpr ActivityLayout kSyncLayout = {8, 16, 4, kNoField, 32, 24, kNoField};

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CUPTI_ACTIVITY_LAYOUT_H_
