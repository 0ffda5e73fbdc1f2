#include "diagnosis/evidence/parts.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/model/lookup.h"
#include "diagnosis/model/rank_times.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

// Of one rank, in the iterations before `since` that were regular or the irregular ones after.
struct Times {
  std::vector<double> cpu, runqueue, starved;

  double WaitPerCpu() const {
    const double all = Mean(cpu);
    return all > 0 ? Mean(runqueue) / all : 0;
  }
};

Times TimesOf(const Case& c, RankId rank, const std::set<Iteration>& irregular, Iteration since,
              bool after) {
  Times times;
  for (const IterationSummary& it : c.view.window) {
    if ((it.index >= since) != after || irregular.contains(it.index) != after) continue;
    if (it.index < c.suspicion.usual_from) continue;
    const RankIteration* mine = RankIn(it, rank);
    if (mine == nullptr) continue;
    times.cpu.push_back(BusyOf(*mine).Seconds());
    times.runqueue.push_back(mine->runqueue.Seconds());
    times.starved.push_back(StarvedOf(*mine).Seconds());
  }
  return times;
}

// Of the other ranks on the node of `rank`, since then; the one in the middle.
double WaitsOfPeers(const Case& c, RankId rank, const std::set<Iteration>& irregular,
                    Iteration since) {
  const std::string node = NodeOf(c.view, rank);
  std::vector<double> waits;
  for (const RankFacts& peer : c.view.ranks) {
    if (peer.rank == rank || node.empty() || peer.node != node) continue;
    waits.push_back(TimesOf(c, peer.rank, irregular, since, true).WaitPerCpu());
  }
  return waits.empty() ? 0 : Median(std::move(waits));
}

}  // namespace

std::optional<SummaryShares> SharesOf(const Case& c, RankId rank, double own_excess,
                                      Iteration since) {
  std::set<Iteration> irregular;
  for (const IrregularIteration& it : c.suspicion.irregular) irregular.insert(it.index);
  const Times before = TimesOf(c, rank, irregular, since, false);
  const Times after = TimesOf(c, rank, irregular, since, true);
  const double usual = Mean(before.cpu);
  if (usual <= 0 || after.cpu.empty() || own_excess <= 0) return std::nullopt;
  SummaryShares shares{(Mean(after.cpu) - usual) / own_excess,
                       (Mean(after.runqueue) - Mean(before.runqueue)) / own_excess};
  shares.starved = (Mean(after.starved) - Mean(before.starved)) / own_excess;
  if (shares.runqueue > 0 && shares.cpu > 0) {
    shares.wait_per_cpu = std::max(before.WaitPerCpu(), WaitsOfPeers(c, rank, irregular, since));
  }
  return shares;
}

Excess PartsOf(const Excess& typical, const std::optional<SummaryShares>& shares) {
  Excess parts = typical;
  if (!shares) return parts;
  double left = std::max(0.0, typical.unsplit);
  const auto take = [&left](double wanted) {
    const double given = std::clamp(wanted, 0.0, left);
    left -= given;
    return given;
  };
  parts.compute += take(shares->cpu * typical.total - typical.gc - typical.compute);
  parts.runqueue += take(shares->runqueue * typical.total - typical.runqueue);
  parts.host += left;
  parts.unsplit = 0;
  parts.crowding =
      std::clamp(shares->wait_per_cpu * parts.compute, 0.0, std::max(0.0, parts.runqueue));
  const double starved = std::clamp(shares->starved * typical.total, 0.0, parts.dataloader);
  parts.dataloader -= starved;
  parts.runqueue += starved;
  return parts;
}

}  // namespace fathom::diagnosis
