#include "diagnosis/hardware/rules/disk_wait.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fathom::diagnosis {
namespace {

constexpr double kStalled = 0.1;  // of the time, that something waits for storage
constexpr double kBusy = 0.8;

bool Concerns(const Verdict& verdict) {
  return verdict.cause == Cause::kDataLoader || verdict.cause == Cause::kHostSlow ||
         verdict.cause == Cause::kUnknown;
}

// The busiest disk, in words; empty where none is.
std::string BusyDisk(const HardwareCase& c) {
  for (const HardwareDevice* disk : OfKind(c.devices, DeviceKind::kDisk)) {
    const auto busy = LevelIn(*disk, HardwareMetric::kDiskBusy, c.now);
    const auto wait = LevelIn(*disk, HardwareMetric::kDiskWait, c.now);
    if (busy.value_or(0) < kBusy) continue;
    return absl::StrFormat(" (disk %s busy %.0f %% of the time, %.0f ms an operation)", disk->name,
                           100 * *busy, wait.value_or(0));
  }
  return "";
}

void Examine(const HardwareCase& c, HardwareFindings& out) {
  const auto peers = OfKind(c.peer_devices, DeviceKind::kMemory);
  for (const HardwareDevice* memory : OfKind(c.devices, DeviceKind::kMemory)) {
    const auto stalled = Compare(*memory, peers, HardwareMetric::kPressureIo, c);
    if (!stalled) continue;
    if (!stalled->Higher(0.5, kStalled)) {
      if (stalled->now >= kStalled / 2) continue;
      out.counter_evidence.push_back(
          {absl::StrCat("Nothing on node ", c.node, " waits for storage."), 100 * stalled->now, "%",
           100 * stalled->peers.value_or(0), kHardwareReadings});
      continue;
    }
    HardwareFinding finding =
        OnNode(c,
               absl::StrFormat("its node waits for storage %.0f %% of the time%s",
                               100 * stalled->now, BusyDisk(c)),
               "pressure_io",
               {absl::StrCat("Share of the time that processes of node ", c.node,
                             " waited for storage (PSI), median since the onset."),
                100 * stalled->now, "%", 100 * stalled->reference(), kHardwareReadings});
    finding.action = "Find who reads and writes there (iotop, /proc/PID/io).";
    out.found.push_back(std::move(finding));
  }
}

}  // namespace

HardwareRule DiskWaitRule() { return {"disk_wait", Concerns, Examine}; }

}  // namespace fathom::diagnosis
