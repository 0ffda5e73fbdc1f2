#include "diagnosis/hardware/rules/cpu_clocks.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fathom::diagnosis {
namespace {

constexpr double kLower = 0.15;  // clocks of processors go up and down with their load
constexpr double kThrottlesPerSecond = 1;

void Tell(const HardwareCase& c, const std::string& words, const char* metric, Evidence evidence,
          HardwareFindings& out) {
  HardwareFinding finding = OnNode(c, words, metric, std::move(evidence));
  finding.action = "Look at cooling and power settings of the node (turbostat, cpupower).";
  out.found.push_back(std::move(finding));
}

void Examine(const HardwareCase& c, HardwareFindings& out) {
  const auto peers = OfKind(c.peer_devices, DeviceKind::kCpu);
  for (const HardwareDevice* cpu : OfKind(c.devices, DeviceKind::kCpu)) {
    const auto throttles = IncreaseIn(*cpu, HardwareMetric::kCpuThrottles, c.now);
    const double others = MedianIncrease(peers, HardwareMetric::kCpuThrottles, c.now).value_or(0);
    const double seconds = (c.now.to - c.now.from).Seconds();
    if (throttles.value_or(0) > kThrottlesPerSecond * seconds && *throttles > 3 * others) {
      Tell(c, "its node's processors throttle for heat", "cpu_throttles",
           {absl::StrCat("Thermal events of the processors of node ", c.node, " since the onset."),
            *throttles, "events", others, kHardwareReadings},
           out);
      continue;
    }
    const auto clock = Compare(*cpu, peers, HardwareMetric::kCpuClock, c);
    // Without peers a lower clock is as well what less work brings.
    if (!clock || !clock->peers) continue;
    if (clock->Lower(kLower)) {
      Tell(c,
           absl::StrFormat("its node's processors at %s MHz, its peers' at %s MHz",
                           WithCommas(clock->now), WithCommas(*clock->peers)),
           "cpu_clock",
           {absl::StrCat("Clock of the processors of node ", c.node, ", median since the onset."),
            clock->now, "MHz", *clock->peers, kHardwareReadings},
           out);
    } else if (clock->now >= (1 - kLower / 2) * *clock->peers) {
      out.counter_evidence.push_back(
          {absl::StrCat("The processors of node ", c.node, " run at the clocks of its peers'."),
           clock->now, "MHz", *clock->peers, kHardwareReadings});
    }
  }
}

}  // namespace

HardwareRule CpuClocksRule() { return {"cpu_clocks", ConcernsOwnTime, Examine}; }

}  // namespace fathom::diagnosis
