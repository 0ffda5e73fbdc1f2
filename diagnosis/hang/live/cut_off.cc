#include "diagnosis/hang/live/cut_off.h"

#include <algorithm>
#include <set>

namespace fathom::diagnosis {
namespace {

bool Touches(const std::vector<RankId>& ranks, const std::set<RankId>& held) {
  return std::any_of(ranks.begin(), ranks.end(), [&](RankId rank) { return held.contains(rank); });
}

// Adds those that wait for any of `held`; false if there are none left.
bool AddWaiting(const WaitFor& graph, std::set<RankId>& held) {
  const std::size_t before = held.size();
  for (const StuckInstance& stuck : graph.instances) {
    if (!Touches(stuck.held_by, held) && !Touches(stuck.unknown, held)) continue;
    for (const auto& [rank, op] : stuck.inside) {
      if (graph.waiting.contains(rank)) held.insert(rank);
    }
  }
  for (const auto& [rank, peers] : graph.unanswered) {
    if (graph.waiting.contains(rank) && Touches({peers.begin(), peers.end()}, held)) {
      held.insert(rank);
    }
  }
  return held.size() > before;
}

}  // namespace

std::optional<CutOffNode> FindCutOffNode(const JobView& view, const WaitFor& graph) {
  if (view.ranks.size() != view.world_size) return std::nullopt;
  CutOffNode cut;
  for (const RankFacts& facts : view.ranks) {
    if (facts.agent_reachable) continue;
    if (facts.node.empty() || (!cut.ranks.empty() && facts.node != cut.node)) return std::nullopt;
    cut.node = facts.node;
    cut.ranks.push_back(facts.rank);
  }
  if (cut.ranks.empty() || cut.ranks.size() == view.ranks.size()) return std::nullopt;
  std::set<RankId> held(cut.ranks.begin(), cut.ranks.end());
  while (AddWaiting(graph, held)) {
  }
  for (const RankFacts& facts : view.ranks) {
    const bool some_in_reach = facts.agent_reachable && facts.node == cut.node;
    if (some_in_reach || !held.contains(facts.rank)) return std::nullopt;
  }
  return cut;
}

}  // namespace fathom::diagnosis
