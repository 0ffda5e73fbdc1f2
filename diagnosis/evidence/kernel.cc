#include "diagnosis/evidence/kernel.h"

#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

const ActivitySum* Find(const DeviceWindow& window, const std::string& name) {
  for (const ActivitySum& sum : window.sums) {
    if (sum.kind == "kernel" && sum.name == name) return &sum;
  }
  return nullptr;
}

double PerIteration(Nanos total, const DeviceWindow& window) {
  return total.Seconds() / static_cast<double>(window.iterations);
}

// The same kernel on the ranks that launched it as often in the same iterations.
std::vector<double> OfPeers(const Case& c, RankId rank, const DeviceWindow& own,
                            const ActivitySum& kernel) {
  std::vector<double> times;
  const double count = static_cast<double>(kernel.count);
  for (const auto& [other, window] : c.view.device_windows) {
    if (other == rank || window->first != own.first) continue;
    if (window->iterations != own.iterations) continue;
    const ActivitySum* theirs = Find(*window, kernel.name);
    if (theirs == nullptr) continue;
    const double apart = std::abs(static_cast<double>(theirs->count) - count);
    if (apart <= c.config.kernel_count_share * count)
      times.push_back(PerIteration(theirs->total, *window));
  }
  return times;
}

// Time of the host's threads in CUPTI's own work, of the window's.
double ShareOfProfiler(const DeviceWindow& window) {
  double seconds = 0;
  for (const ActivitySum& sum : window.sums) {
    if (sum.kind == "cupti") seconds += sum.total.Seconds();
  }
  return window.lasted.count > 0 ? seconds / window.lasted.Seconds() : 0;
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
    if (kernel.kind != "kernel" || kernel.name.empty()) continue;
    const double mine = PerIteration(kernel.total, own);
    std::vector<double> peers = OfPeers(c, rank, own, kernel);
    if (peers.size() < static_cast<std::size_t>(c.config.kernel_peers)) continue;
    const std::size_t compared = peers.size();
    const double usual = Median(std::move(peers));
    if (mine - usual < most || mine < c.config.delta * usual) continue;
    most = mine - usual;
    const auto iterations = static_cast<double>(own.iterations);
    slowest = {kernel.name, mine,
               usual,       static_cast<double>(kernel.count) / iterations,
               compared,    ShareOfProfiler(own)};
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
