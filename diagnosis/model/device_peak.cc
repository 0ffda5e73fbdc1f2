#include "diagnosis/model/device_peak.h"

#include <algorithm>
#include <array>

namespace fathom::diagnosis {
namespace {

struct Row {
  std::string_view name;
  FlopByClass tera;  // FLOP/s / 10^12: fp64, fp32, tf32, fp16, fp8, fp4
};

constexpr FlopByClass kA100 = {19.5, 19.5, 156, 312, 624, 0};
constexpr FlopByClass kHopperSxm = {67, 67, 494.7, 989.4, 1978.9, 0};
constexpr FlopByClass kHopperNvl = {60, 60, 417.5, 835.5, 1670.5, 0};
constexpr FlopByClass kV100Sxm = {7.8, 15.7, 0, 125, 0, 0};
constexpr FlopByClass kV100Pcie = {7, 14, 0, 112, 0, 0};

constexpr std::array<Row, 19> kRows = {{
    {"Tesla V100-SXM2-16GB", kV100Sxm},
    {"Tesla V100-SXM2-32GB", kV100Sxm},
    {"Tesla V100-PCIE-16GB", kV100Pcie},
    {"Tesla V100-PCIE-32GB", kV100Pcie},
    {"Tesla T4", {0, 8.1, 0, 65, 130, 0}},
    {"NVIDIA A10", {0, 31.2, 62.5, 125, 250, 0}},
    {"NVIDIA A30", {10.3, 10.3, 82, 165, 330, 0}},
    {"NVIDIA A100-SXM4-40GB", kA100},
    {"NVIDIA A100-SXM4-80GB", kA100},
    {"NVIDIA A100-PCIE-40GB", kA100},
    {"NVIDIA A100-PCIE-80GB", kA100},
    {"NVIDIA A100 80GB PCIe", kA100},
    {"NVIDIA L4", {0, 30.3, 60, 121, 242.5, 0}},
    {"NVIDIA L40S", {0, 91.6, 183, 362.05, 733, 0}},
    {"NVIDIA H100 80GB HBM3", kHopperSxm},
    {"NVIDIA H100 PCIe", {51, 51, 378, 756, 1513, 0}},
    {"NVIDIA H100 NVL", kHopperNvl},
    {"NVIDIA H200", kHopperSxm},
    {"NVIDIA H200 NVL", kHopperNvl},
}};

}  // namespace

bool DevicePeak::known() const {
  return std::any_of(flop_per_s.begin(), flop_per_s.end(), [](double peak) { return peak > 0; });
}

std::optional<double> DevicePeak::Seconds(const FlopByClass& flop) const {
  double seconds = 0;
  for (std::size_t i = 0; i < kFlopClasses; ++i) {
    if (flop[i] <= 0) continue;
    if (flop_per_s[i] <= 0) return std::nullopt;
    seconds += flop[i] / flop_per_s[i];
  }
  return seconds;
}

DevicePeak PeakOf(std::string_view gpu) {
  constexpr double kTera = 1e12;
  DevicePeak peak;
  const auto row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) { return each.name == gpu; });
  if (row == kRows.end()) return peak;
  for (std::size_t i = 0; i < kFlopClasses; ++i) peak.flop_per_s[i] = row->tera[i] * kTera;
  peak.source = "data sheet";
  return peak;
}

}  // namespace fathom::diagnosis
