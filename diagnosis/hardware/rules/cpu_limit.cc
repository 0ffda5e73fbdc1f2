#include "diagnosis/hardware/rules/cpu_limit.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr double kOften = 0.1;  // of its periods

// A process without a limit is never held back.
double PeersHeldBack(const HardwareCase& c) {
  std::vector<double> shares;
  for (const HardwareDevice* peer : c.peer_processes) {
    const auto share =
        peer == nullptr ? std::nullopt : LevelIn(*peer, HardwareMetric::kHeldBack, c.now);
    shares.push_back(share.value_or(0));
  }
  return shares.empty() ? 0 : Median(std::move(shares));
}

void Examine(const HardwareCase& c, HardwareFindings& out) {
  if (c.process == nullptr) return;
  const auto held = Compare(*c.process, {}, HardwareMetric::kHeldBack, c);
  if (!held) return;
  const double peers = PeersHeldBack(c);
  const double usual = std::max(peers, held->before.value_or(0));
  const double cores = LevelIn(*c.process, HardwareMetric::kCpuLimit, c.now).value_or(0);
  const std::string limit = absl::StrFormat("its CPU limit of %.3g cores", cores);
  Evidence evidence{
      absl::StrCat("Share of the periods since the onset in which process ", c.process->name,
                   " had used up ", limit, "; of its peers as given."),
      100 * held->now, "%", 100 * usual, kHardwareReadings};
  if (held->now < kOften / 2) out.counter_evidence.push_back(std::move(evidence));
  if (held->now < kOften || usual > held->now / 2) return;
  HardwareFinding finding;
  finding.words =
      absl::StrFormat("held back by %s in %.0f %% of all periods", limit, 100 * held->now);
  finding.counter = absl::StrCat("held_back of process ", c.process->name);
  finding.evidence = std::move(evidence);
  finding.action =
      "Raise the CPU limit of its container (resources.limits.cpu; cpu.max of its control group), "
      "or give it none.";
  out.found.push_back(std::move(finding));
}

}  // namespace

HardwareRule CpuLimitRule() { return {"cpu_limit", ConcernsOwnTime, Examine}; }

}  // namespace fathom::diagnosis
