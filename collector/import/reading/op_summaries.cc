#include "collector/import/reading/op_summaries.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fathom::collector {
namespace {

using diagnosis::CommOp;
using diagnosis::GroupIteration;
using diagnosis::RankIteration;

GroupIteration& GroupIn(RankIteration& iteration, GroupId id) {
  for (GroupIteration& group : iteration.groups) {
    if (group.group == id) return group;
  }
  iteration.groups.push_back({});
  iteration.groups.back().group = id;
  return iteration.groups.back();
}

void Count(const CommOp& op, RankIteration& iteration) {
  ++iteration.ops;
  if (!op.done() || op.group == GroupId()) return;
  GroupIteration& group = GroupIn(iteration, op.group);
  const Nanos elapsed = op.elapsed();
  if (group.count == 0) group.first = group.longest = elapsed;
  if (op.kind != CollectiveKind::kRecv) {
    group.shortest = group.shortest == Nanos() ? elapsed : std::min(group.shortest, elapsed);
  }
  group.longest = std::max(group.longest, elapsed);
  group.elapsed += elapsed;
  ++group.count;
}

}  // namespace

void SummariseOps(diagnosis::JobView& view) {
  std::map<std::pair<RankId, Iteration>, RankIteration*> at;
  for (auto& summary : view.window) {
    for (RankIteration& iteration : summary.ranks) {
      iteration.groups.clear();
      iteration.ops = 0;
      at[{iteration.rank, summary.index}] = &iteration;
    }
  }
  for (const auto& [rank, rows] : view.rows) {
    for (const CommOp& op : rows.ops) {
      const auto found = at.find({rank, op.iteration});
      if (found != at.end()) Count(op, *found->second);
    }
  }
}

}  // namespace fathom::collector
