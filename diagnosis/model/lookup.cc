#include "diagnosis/model/lookup.h"

#include <algorithm>
#include <vector>

namespace fathom::diagnosis {
namespace {

template <typename Item, typename Id>
const Item* Bisect(const std::vector<Item>& all, Id Item::*id, Id wanted) {
  const auto at = std::lower_bound(all.begin(), all.end(), wanted,
                                   [id](const Item& item, Id value) { return item.*id < value; });
  return at != all.end() && (*at).*id == wanted ? &*at : nullptr;
}

// By bisection, which finds it where `all` is sorted; then one by one.
template <typename Item, typename Id>
const Item* Find(const std::vector<Item>& all, Id Item::*id, Id wanted) {
  if (const Item* sorted = Bisect(all, id, wanted)) return sorted;
  const auto any =
      std::find_if(all.begin(), all.end(), [&](const Item& item) { return item.*id == wanted; });
  return any != all.end() ? &*any : nullptr;
}

}  // namespace

const RankFacts* FactsOf(const JobView& view, RankId rank) {
  const std::size_t place = rank.value;
  if (place < view.ranks.size() && view.ranks[place].rank == rank) return &view.ranks[place];
  return Find(view.ranks, &RankFacts::rank, rank);
}

const Group* FindGroup(const JobView& view, GroupId id) {
  return Find(view.groups, &Group::id, id);
}

std::size_t SizeOf(const Group& group) {
  return group.members.empty() ? group.size : group.members.size();
}

bool Contains(const std::vector<RankId>& ranks, RankId rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

std::vector<RankId> RanksBeside(const JobView& view, const std::vector<RankId>& ranks) {
  std::vector<RankId> out;
  for (const RankFacts& facts : view.ranks) {
    if (!Contains(ranks, facts.rank)) out.push_back(facts.rank);
  }
  return out;
}

std::string NodeOf(const JobView& view, RankId rank) {
  const RankFacts* facts = FactsOf(view, rank);
  return facts == nullptr ? "" : facts->node;
}

std::string GpuOf(const JobView& view, RankId rank) {
  const RankFacts* facts = FactsOf(view, rank);
  if (facts == nullptr || !facts->gpu) return "";
  const Gpu& gpu = *facts->gpu;
  return gpu.bus_id.empty() ? std::to_string(gpu.number) : gpu.bus_id;
}

std::set<std::string> NodesOf(const JobView& view, const std::vector<RankId>& ranks) {
  std::set<std::string> nodes;
  for (const RankId rank : ranks) nodes.insert(NodeOf(view, rank));
  return nodes;
}

const RankIteration* RankIn(const IterationSummary& iteration, RankId rank) {
  return Bisect(iteration.ranks, &RankIteration::rank, rank);
}

}  // namespace fathom::diagnosis
