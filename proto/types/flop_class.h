// Classes of floating-point operations by what a device's peak depends on: the type of the factors.
//
// Told by the tracer, summed by the agent and the collector, rated against a peak of the same class
// (diagnosis/model/device_peak.h). Numbers are part of the ABI and of messages: never renumbered,
// only added. std only.
#ifndef FATHOM_PROTO_TYPES_FLOP_CLASS_H_
#define FATHOM_PROTO_TYPES_FLOP_CLASS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace fathom {

enum class FlopClass : std::uint8_t {
  kFp64 = 0,
  kFp32 = 1,
  kTf32 = 2,  // factors of FP32, multiplied as TF32
  kFp16 = 3,  // FP16 and BF16
  kFp8 = 4,   // FP8 and INT8
  kFp4 = 5,
};
inline constexpr std::size_t kFlopClasses = 6;

using FlopByClass = std::array<double, kFlopClasses>;  // FLOP, or FLOP/s

constexpr double SumOf(const FlopByClass& flop) {
  double sum = 0;
  for (const double each : flop) sum += each;
  return sum;
}

}  // namespace fathom

#endif  // FATHOM_PROTO_TYPES_FLOP_CLASS_H_
