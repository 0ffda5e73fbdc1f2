#include "diagnosis/evidence/parts.h"

#include <algorithm>
#include <set>
#include <vector>

#include "diagnosis/model/lookup.h"

namespace fathom::diagnosis {
namespace {

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace

std::optional<SummaryShares> SharesOf(const Case& c, RankId rank, double own_excess,
                                      Iteration since) {
  std::set<Iteration> irregular;
  for (const IrregularIteration& it : c.suspicion.irregular) irregular.insert(it.index);
  std::vector<double> cpu, cpu_before, runqueue, runqueue_before;
  for (const IterationSummary& it : c.view.window) {
    const RankIteration* mine = RankIn(it, rank);
    if (mine == nullptr) continue;
    const bool after = it.index >= since;
    if (after != irregular.contains(it.index)) continue;
    (after ? cpu : cpu_before).push_back(mine->cpu.Seconds());
    (after ? runqueue : runqueue_before).push_back(mine->runqueue.Seconds());
  }
  const double usual = Mean(cpu_before);
  if (usual <= 0 || cpu.empty() || own_excess <= 0) return std::nullopt;
  return SummaryShares{(Mean(cpu) - usual) / own_excess,
                       (Mean(runqueue) - Mean(runqueue_before)) / own_excess};
}

Excess PartsOf(const Excess& typical, const std::optional<SummaryShares>& shares) {
  Excess parts = typical;
  if (!shares || typical.unsplit <= 0) return parts;
  double left = typical.unsplit;
  const auto take = [&left](double wanted) {
    const double given = std::clamp(wanted, 0.0, left);
    left -= given;
    return given;
  };
  parts.compute += take(shares->cpu * typical.total - typical.gc - typical.compute);
  parts.runqueue += take(shares->runqueue * typical.total - typical.runqueue);
  parts.host += left;
  parts.unsplit = 0;
  return parts;
}

}  // namespace fathom::diagnosis
