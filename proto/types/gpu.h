// The GPU that a rank drives, by the names under which the machine knows it.
//
// Told by daemon/agent (from the ring), carried by RankInfo, used by diagnosis and the collector.
// Its texts come from outside and go into file names, commands and pages, so both sides check their
// shape here.
//
// Thread-safety: plain value, pure functions. Errors: none.
#ifndef FATHOM_PROTO_TYPES_GPU_H_
#define FATHOM_PROTO_TYPES_GPU_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace fathom {

inline constexpr std::uint32_t kMaxGpuNumber = 1023;

struct Gpu {
  std::uint32_t number = 0;  // as its process counts its devices
  std::string bus_id;        // PCI, "0000:1B:00.0"; empty: not known
  std::string uuid;          // "GPU-…"; empty: not known

  bool operator==(const Gpu&) const = default;
};

namespace gpu_text {

inline constexpr std::string_view kDigits = "0123456789abcdefABCDEF";

// Every 'x' of `shape` is a hexadecimal digit of `text`, every other character is itself.
inline bool Has(std::string_view shape, std::string_view text) {
  return shape.size() == text.size() &&
         std::equal(shape.begin(), shape.end(), text.begin(), [](char of_shape, char of_text) {
           return of_shape == 'x' ? kDigits.find(of_text) != std::string_view::npos
                                  : of_shape == of_text;
         });
}

}  // namespace gpu_text

// Domain, bus, device and function; CUDA writes four digits of the domain, NVML eight.
inline bool IsPciBusId(std::string_view text) {
  return gpu_text::Has("xxxx:xx:xx.x", text) || gpu_text::Has("xxxxxxxx:xx:xx.x", text);
}

inline bool IsGpuUuid(std::string_view text) {
  return gpu_text::Has("GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", text);
}

}  // namespace fathom

#endif  // FATHOM_PROTO_TYPES_GPU_H_
