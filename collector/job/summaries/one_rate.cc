#include "collector/job/summaries/one_rate.h"

#include <map>
#include <utility>

#include "diagnosis/stats/robust.h"

namespace fathom::collector {

void KeepOneRate(std::vector<diagnosis::IterationSummary>& window) {
  std::map<RankId, std::vector<double>> durations;
  for (const diagnosis::IterationSummary& iteration : window) {
    for (const diagnosis::RankIteration& rank : iteration.ranks) {
      durations[rank.rank].push_back(rank.duration.Seconds());
    }
  }
  std::map<RankId, double> usual;
  std::vector<double> all;
  for (auto& [rank, told] : durations) {
    if (told.size() < kFewest) continue;
    usual[rank] = diagnosis::Median(std::move(told));
    all.push_back(usual[rank]);
  }
  if (all.empty()) return;
  const double most = diagnosis::Median(std::move(all));
  for (diagnosis::IterationSummary& iteration : window) {
    std::erase_if(iteration.ranks, [&](const diagnosis::RankIteration& rank) {
      const auto at = usual.find(rank.rank);
      const double own = at == usual.end() ? most : at->second;
      return own > kApart * most || most > kApart * own;
    });
  }
}

}  // namespace fathom::collector
