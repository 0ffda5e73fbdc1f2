// Two small number formats for microseconds and counts, so that a rank's window fits its bound.
//
// Used by collector/job only.
//   Micro16  5 bits of exponent, 11 of mantissa: exact below 2048, then within 1/4096 of the value.
//            Enough for every rule, which starts at 5 %.
//   Log8     one byte, steps of 9 %: 0 is 0, 255 is "not reported". For display (heat map) only.
// Units: as given. Range: all of uint32. Thread-safety: pure functions. Cost: a few instructions
// (Log8: one logarithm).
#ifndef FATHOM_COLLECTOR_JOB_SUMMARIES_MICRO_CODES_H_
#define FATHOM_COLLECTOR_JOB_SUMMARIES_MICRO_CODES_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace fathom::collector {

using Micro16 = std::uint16_t;
using Log8 = std::uint8_t;

constexpr Micro16 ToMicro16(std::uint32_t value) {
  if (value < 2048) return static_cast<Micro16>(value);
  auto shift = static_cast<unsigned>(std::bit_width(value)) - 12u;
  const std::uint64_t half = shift ? std::uint64_t{1} << (shift - 1) : 0;
  std::uint64_t mantissa = (value + half) >> shift;
  if (mantissa == 4096) mantissa = 2048, ++shift;
  return static_cast<Micro16>(((shift + 1) << 11) | (mantissa & 2047));
}

constexpr std::uint64_t FromMicro16(Micro16 code) {
  const unsigned exponent = code >> 11;
  if (exponent == 0) return code;
  return static_cast<std::uint64_t>((code & 2047u) + 2048u) << (exponent - 1);
}

inline constexpr Log8 kLog8Missing = 255;
inline constexpr double kLog8Step = 0.0877;  // ln of the ratio; 253 steps reach 4.3e9

inline Log8 ToLog8(std::uint64_t value) {
  if (value == 0) return 0;
  const double code = 1 + std::round(std::log(static_cast<double>(value)) / kLog8Step);
  return static_cast<Log8>(std::min(code, 254.0));
}

inline std::uint64_t FromLog8(Log8 code) {
  return code == 0 ? 0 : static_cast<std::uint64_t>(std::llround(std::exp((code - 1) * kLog8Step)));
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_SUMMARIES_MICRO_CODES_H_
