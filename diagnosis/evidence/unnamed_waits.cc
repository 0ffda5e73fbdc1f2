#include "diagnosis/evidence/unnamed_waits.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

std::map<RankId, double> BlockedIn(const JobView& view, const std::vector<Iteration>& wanted) {
  std::map<RankId, std::vector<double>> blocked;
  for (const IterationSummary& it : view.window) {
    if (!std::binary_search(wanted.begin(), wanted.end(), it.index)) continue;
    for (const RankIteration& r : it.ranks) blocked[r.rank].push_back(r.blocked.Seconds());
  }
  std::map<RankId, double> typical;
  for (auto& [rank, values] : blocked) typical[rank] = Median(std::move(values));
  return typical;
}

}  // namespace

bool HasUnnamedMessages(const JobView& view) {
  for (const auto& [rank, rows] : view.rows) {
    for (const CommOp& op : rows.ops) {
      if (IsPointToPoint(op.kind) && op.peer == kNoRank) return true;
    }
  }
  return false;
}

double OthersWaitLonger(const Case& c, const Ledger& ledger, RankId rank) {
  const double needed = c.config.explains_share * ledger.excess;
  const auto before = BlockedIn(c.view, c.graph.baseline());
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [other, now] : BlockedIn(c.view, c.graph.irregular())) {
    const auto then = before.find(other);
    if (then == before.end()) return 0;
    const double more = now - then->second;
    if ((more >= needed) != (other != rank)) return 0;
    if (other != rank) least = std::min(least, more);
  }
  return least < std::numeric_limits<double>::infinity() ? least : 0;
}

}  // namespace fathom::diagnosis
