#include "diagnosis/hardware/rules/gpu_clocks.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fathom::diagnosis {
namespace {

constexpr double kLower = 0.06;  // clocks of GPUs of one kind differ by 1 to 2 %
constexpr double kAlike = 0.03;
constexpr double kMostly = 0.5;  // of the time: why the clocks are low
constexpr std::uint64_t kIdle = 0x1;

struct Reason {
  std::uint64_t bits;
  const char* words;
  const char* action;
};

// Bits of nvmlClocksEventReason…; the heat first, because it sets the general one too.
constexpr Reason kReasons[] = {
    {0x60, "thermal throttling", "Look at its cooling: fans, coolant, air, its neighbours' heat."},
    {0x80, "slowed down by the power brake", "Look at the power supplies of the node."},
    {0x04, "held at its power limit",
     "Compare its power limit with its peers' (nvidia-smi -q -d POWER)."},
    {0x08, "slowed down by its hardware", "Look at heat and power of the node."},
    {0x10, "held back by its sync boost group", "Look at the other GPUs of its sync boost group."},
    {0x02, "held at the clocks that were set for it",
     "Reset the clocks that were set: nvidia-smi -rac, -rgc."},
};

bool Concerns(const Verdict& verdict) {
  return verdict.cause == Cause::kComputeSlow || verdict.cause == Cause::kUnknown;
}

const Reason* ReasonOf(const HardwareDevice& gpu, Stretch now) {
  for (const Reason& reason : kReasons) {
    for (std::uint64_t bit = 1; bit <= reason.bits; bit <<= 1) {
      if ((reason.bits & bit) == 0) continue;
      const auto share = BitShareIn(gpu, HardwareMetric::kClockReasons, bit, now);
      if (share.value_or(0) >= kMostly) return &reason;
    }
  }
  return nullptr;
}

Evidence InEvidence(const Compared& clock, const std::string& statement) {
  return {statement, clock.now, "MHz", clock.reference(), kHardwareReadings};
}

void TellLow(const HardwareCase& c, const Compared& clock, HardwareFindings& out) {
  const Reason* reason = ReasonOf(*c.gpu, c.now);
  const WallNs since =
      clock.before ? SinceBeyond(*c.gpu, HardwareMetric::kSmClock, (clock.now + *clock.before) / 2)
                   : WallNs();
  std::string words = absl::StrFormat(
      "%s%s (SM clock %s %s %s MHz)", reason == nullptr ? "at a low clock" : reason->words,
      SinceWhen(since), clock.before ? WithCommas(*clock.before) : WithCommas(clock.now),
      clock.before ? "→" : "against",
      clock.before ? WithCommas(clock.now) : WithCommas(clock.peers.value_or(0)));
  std::string statement =
      absl::StrFormat("The SM clock of GPU %s since the onset, median; %s.", c.gpu->name,
                      clock.before ? "before it as given" : "of its peers as given");
  const auto heat = LevelIn(*c.gpu, HardwareMetric::kTemperature, c.now);
  if (heat) absl::StrAppend(&statement, " It is ", WithCommas(*heat), " °C hot.");
  HardwareFinding finding = OnGpu(c, std::move(words), "sm_clock", InEvidence(clock, statement));
  finding.action = reason == nullptr
                       ? "Find out why its clocks are low (nvidia-smi -q -d PERFORMANCE)."
                       : reason->action;
  out.found.push_back(std::move(finding));
}

void Examine(const HardwareCase& c, HardwareFindings& out) {
  if (c.gpu == nullptr) return;
  const auto clock = Compare(*c.gpu, c.peer_gpus, HardwareMetric::kSmClock, c);
  if (!clock) return;
  // A GPU that has nothing to do lets its clocks go down.
  const auto idle = BitShareIn(*c.gpu, HardwareMetric::kClockReasons, kIdle, c.now);
  if (clock->Lower(kLower) && idle.value_or(0) < kMostly) return TellLow(c, *clock, out);
  const bool as_peers = clock->peers && clock->now >= (1 - kAlike) * *clock->peers;
  const bool as_before = clock->before && clock->now >= (1 - kAlike) * *clock->before;
  if (as_peers || as_before) {
    const std::string than = as_peers ? "as its peers' are" : "as before";
    out.counter_evidence.push_back(
        {absl::StrCat("The clocks of GPU ", c.gpu->name, " are ", than, ": SM clock, median."),
         clock->now, "MHz", as_peers ? *clock->peers : *clock->before, kHardwareReadings});
  }
}

}  // namespace

HardwareRule GpuClocksRule() { return {"gpu_clocks", Concerns, Examine}; }

}  // namespace fathom::diagnosis
