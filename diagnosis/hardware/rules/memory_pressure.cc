#include "diagnosis/hardware/rules/memory_pressure.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fathom::diagnosis {
namespace {

constexpr double kStalled = 0.1;  // of the time, that something waits for memory
constexpr double kSwappedPerSecond = 100;

bool Concerns(const Verdict& verdict) {
  switch (verdict.cause) {
    case Cause::kHostSlow:
    case Cause::kComputeSlow:
    case Cause::kDataLoader:
    case Cause::kGc:
    case Cause::kUnknown:
    case Cause::kProcessDead:
      return true;
    default:
      return false;
  }
}

void Tell(const HardwareCase& c, const std::string& words, const char* metric, Evidence evidence,
          HardwareFindings& out) {
  HardwareFinding finding = OnNode(c, words, metric, std::move(evidence));
  if (c.verdict.cause != Cause::kProcessDead) finding.cause = Cause::kMemorySlow;
  finding.action =
      "Find what fills the node's memory (ps aux --sort=-rss), and give the job less to "
      "hold or the node more.";
  out.found.push_back(std::move(finding));
}

// Killed for memory: of a rank that died, and where it did not, of whoever else filled the node.
void ExamineKills(const HardwareCase& c, const HardwareDevice& memory, HardwareFindings& out) {
  const auto kills = IncreaseIn(memory, HardwareMetric::kOomKills, c.lately);
  if (c.verdict.cause != Cause::kProcessDead || kills.value_or(0) < 1) return;
  Tell(c, "the kernel killed a process of its node for want of memory", "oom_kills",
       {absl::StrCat("Processes that the kernel of node ", c.node,
                     " killed for want of memory since a minute before."),
        *kills, "kills", 0, kHardwareReadings},
       out);
}

void ExaminePressure(const HardwareCase& c, const HardwareDevice& memory, HardwareFindings& out) {
  const auto peers = OfKind(c.peer_devices, DeviceKind::kMemory);
  const auto pressure = Compare(memory, peers, HardwareMetric::kPressureMemory, c);
  if (!pressure) return;
  if (pressure->Higher(0.5, kStalled)) {
    return Tell(
        c, absl::StrFormat("memory pressure: stalled %.0f %% of the time", 100 * pressure->now),
        "pressure_memory",
        {absl::StrCat("Share of the time that processes of node ", c.node,
                      " waited for memory (PSI), median since the onset."),
         100 * pressure->now, "%", 100 * pressure->reference(), kHardwareReadings},
        out);
  }
  const auto swapped = IncreaseIn(memory, HardwareMetric::kSwappedPages, c.now);
  const double seconds = (c.now.to - c.now.from).Seconds();
  const double others = MedianIncrease(peers, HardwareMetric::kSwappedPages, c.now).value_or(0);
  if (swapped.value_or(0) > kSwappedPerSecond * seconds && *swapped > 3 * others) {
    return Tell(c,
                absl::StrFormat("its node swaps %s pages a second", WithCommas(*swapped / seconds)),
                "swapped_pages",
                {absl::StrCat("Pages that node ", c.node, " swapped in and out, a second."),
                 *swapped / seconds, "pages/s", others / seconds, kHardwareReadings},
                out);
  }
  if (pressure->now < kStalled / 2) {
    out.counter_evidence.push_back({absl::StrCat("Nothing on node ", c.node, " waits for memory."),
                                    100 * pressure->now, "%", 100 * pressure->peers.value_or(0),
                                    kHardwareReadings});
  }
}

void Examine(const HardwareCase& c, HardwareFindings& out) {
  for (const HardwareDevice* memory : OfKind(c.devices, DeviceKind::kMemory)) {
    ExamineKills(c, *memory, out);
    if (c.verdict.cause != Cause::kProcessDead) ExaminePressure(c, *memory, out);
  }
}

}  // namespace

HardwareRule MemoryPressureRule() { return {"memory_pressure", Concerns, Examine}; }

}  // namespace fathom::diagnosis
