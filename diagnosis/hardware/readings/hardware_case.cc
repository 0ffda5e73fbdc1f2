#include "diagnosis/hardware/readings/hardware_case.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr Nanos kLeastPast{10'000'000'000};  // of a series before the onset, to say what was usual

HardwareFinding Found(std::string words, std::string_view metric, std::string_view of,
                      Evidence evidence) {
  HardwareFinding finding;
  finding.words = std::move(words);
  finding.evidence = std::move(evidence);
  finding.counter = std::string(metric).append(" of ").append(of);
  return finding;
}

}  // namespace

HardwareFinding OnGpu(const HardwareCase& c, std::string words, std::string_view metric,
                      Evidence evidence) {
  HardwareFinding finding =
      Found(std::move(words), metric, absl::StrCat("GPU ", c.gpu->name), std::move(evidence));
  finding.names_gpu = true;
  return finding;
}

HardwareFinding OnNode(const HardwareCase& c, std::string words, std::string_view metric,
                       Evidence evidence) {
  HardwareFinding finding =
      Found(std::move(words), metric, absl::StrCat("node ", c.node), std::move(evidence));
  finding.decides = c.node_decides;
  return finding;
}

bool Compared::Lower(double share) const {
  if (!before && !peers) return false;
  return (!before || now < (1 - share) * *before) && (!peers || now < (1 - share) * *peers);
}

bool Compared::Higher(double share, double least) const {
  if (now < least || (!before && !peers)) return false;
  const auto above = [&](double than) { return now - than >= share * std::max(than, least); };
  return (!before || above(*before)) && (!peers || above(*peers));
}

std::optional<Compared> Compare(const HardwareDevice& own,
                                const std::vector<const HardwareDevice*>& peers,
                                HardwareMetric metric, const HardwareCase& c) {
  const auto now = LevelIn(own, metric, c.now);
  if (!now) return std::nullopt;
  Compared out;
  out.now = *now;
  const bool known =
      SeriesOf(own, metric)->points.front().at + kLeastPast <= c.before.value_or(Stretch{}).to;
  if (c.before && known) out.before = LevelIn(own, metric, *c.before);
  std::vector<double> levels;
  for (const HardwareDevice* peer : peers) {
    const auto level = LevelIn(*peer, metric, c.now);
    if (level) levels.push_back(*level);
  }
  out.compared = levels.size();
  if (!levels.empty()) out.peers = Median(std::move(levels));
  return out;
}

std::vector<const HardwareDevice*> OfKind(const std::vector<const HardwareDevice*>& devices,
                                          DeviceKind kind) {
  std::vector<const HardwareDevice*> out;
  for (const HardwareDevice* device : devices) {
    if (device->kind == kind) out.push_back(device);
  }
  return out;
}

bool ConcernsOwnTime(const Verdict& verdict) {
  return verdict.cause == Cause::kHostSlow || verdict.cause == Cause::kComputeSlow ||
         verdict.cause == Cause::kDataLoader || verdict.cause == Cause::kUnknown;
}

std::optional<double> MedianIncrease(const std::vector<const HardwareDevice*>& devices,
                                     HardwareMetric metric, Stretch when) {
  std::vector<double> rises;
  for (const HardwareDevice* device : devices) {
    const auto rise = IncreaseIn(*device, metric, when);
    if (rise) rises.push_back(*rise);
  }
  if (rises.empty()) return std::nullopt;
  return Median(std::move(rises));
}

std::string SinceWhen(WallNs since) {
  return since.known() ? absl::StrCat(" since ", ClockTime(since)) : std::string();
}

}  // namespace fathom::diagnosis
