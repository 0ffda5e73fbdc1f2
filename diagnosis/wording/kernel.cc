#include "diagnosis/wording/kernel.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr std::int64_t kToldApart = 3;  // iterations, from which one is a small part

const ActivitySum* Find(const DeviceWindow& window, const std::string& name) {
  for (const ActivitySum& sum : window.sums) {
    if (sum.kind == "kernel" && sum.name == name) return &sum;
  }
  return nullptr;
}

// Whether two ranks launched a kernel as often. The launches of one iteration may be missing where
// a window closed while they ran; of a window of few iterations that would be any number.
bool AsOften(double one, double other, std::int64_t iterations, const DiagnosisConfig& config) {
  const double most = std::max(one, other);
  const double cut = iterations >= kToldApart ? most / static_cast<double>(iterations) : 0;
  return std::abs(one - other) <= std::max((config.delta - 1) * most, cut);
}

struct Peers {
  std::vector<double> launch_s;  // mean of a launch, of each peer
  double most = 0;               // launches of a peer in the window
};

// The same kernel on the ranks that launched it as often in the same iterations.
Peers PeersOf(const Case& c, RankId rank, const DeviceWindow& own, const ActivitySum& kernel) {
  Peers peers;
  const auto count = static_cast<double>(kernel.count);
  for (const auto& [other, window] : c.view.device_windows) {
    if (other == rank || window->first != own.first) continue;
    if (window->iterations != own.iterations) continue;
    const ActivitySum* theirs = Find(*window, kernel.name);
    if (theirs == nullptr || theirs->count == 0) continue;
    const auto launches = static_cast<double>(theirs->count);
    if (!AsOften(count, launches, own.iterations, c.config)) continue;
    peers.launch_s.push_back(theirs->total.Seconds() / launches);
    peers.most = std::max(peers.most, launches);
  }
  return peers;
}

// Time of the host's threads in CUPTI's own work, of the window's.
double ShareOfProfiler(const DeviceWindow& window) {
  double seconds = 0;
  for (const ActivitySum& sum : window.sums) {
    if (sum.kind == "cupti") seconds += sum.total.Seconds();
  }
  return window.lasted.count > 0 ? seconds / window.lasted.Seconds() : 0;
}

// Nothing where it is as on its peers, or cannot be compared.
std::optional<SlowKernel> Compared(const Case& c, RankId rank, const DeviceWindow& own,
                                   const ActivitySum& kernel) {
  if (kernel.kind != "kernel" || kernel.name.empty() || kernel.count == 0) return std::nullopt;
  Peers peers = PeersOf(c, rank, own, kernel);
  const std::size_t compared = peers.launch_s.size();
  if (1 + compared < kFewestForMedian) return std::nullopt;
  const auto count = static_cast<double>(kernel.count);
  const double launches = std::max(count, peers.most) / static_cast<double>(own.iterations);
  const double usual = Median(std::move(peers.launch_s)) * launches;
  const double mine = kernel.total.Seconds() / count * launches;
  if (mine < c.config.delta * usual) return std::nullopt;
  return SlowKernel{kernel.name, mine, usual, launches, compared, ShareOfProfiler(own)};
}

struct IterationSums {
  double seconds = 0;
  double launches = 0;
};

std::pair<double, double> Medians(const std::map<Iteration, IterationSums>& sums,
                                  const std::vector<Iteration>& wanted) {
  std::vector<double> seconds, launches;
  for (const Iteration iteration : wanted) {
    const auto at = sums.find(iteration);
    if (at == sums.end()) continue;
    seconds.push_back(at->second.seconds);
    launches.push_back(at->second.launches);
  }
  return {Median(std::move(seconds)), Median(std::move(launches))};
}

}  // namespace

std::optional<SlowKernel> SlowKernelOf(const Case& c, RankId rank, double excess) {
  const auto at = c.view.device_windows.find(rank);
  if (at == c.view.device_windows.end() || at->second->iterations <= 0) return std::nullopt;
  const DeviceWindow& own = *at->second;
  if (own.first < c.suspicion.onset) return std::nullopt;  // from better days
  std::optional<SlowKernel> slowest;
  double most = c.config.explains_share * excess;
  for (const ActivitySum& kernel : own.sums) {
    auto slow = Compared(c, rank, own, kernel);
    if (!slow || slow->seconds - slow->peers < most) continue;
    most = slow->seconds - slow->peers;
    slowest = std::move(slow);
  }
  return slowest;
}

std::optional<SlowLaunches> SlowLaunchesOf(const Case& c, RankId rank, double excess) {
  const auto rows = c.view.rows.find(rank);
  if (rows == c.view.rows.end()) return std::nullopt;
  std::map<Iteration, IterationSums> sums;
  for (const CommOp& op : rows->second.ops) {
    IterationSums& sum = sums[op.iteration];
    sum.seconds += op.launching.Seconds();
    sum.launches += static_cast<double>(op.launches);
  }
  const auto [now, launches] = Medians(sums, c.graph.irregular());
  const auto [before, launches_before] = Medians(sums, c.graph.baseline());
  if (launches <= 0 || now - before < c.config.explains_share * excess) return std::nullopt;
  return SlowLaunches{now, before, launches, launches_before};
}

}  // namespace fathom::diagnosis
