#include "diagnosis/model/lookup.h"

#include <algorithm>
#include <vector>

namespace fathom::diagnosis {
namespace {

// By bisection, which finds it where `all` is sorted; then one by one.
template <typename Item, typename Id>
const Item* Find(const std::vector<Item>& all, Id Item::*id, Id wanted) {
  const auto sorted =
      std::lower_bound(all.begin(), all.end(), wanted,
                       [id](const Item& item, Id value) { return item.*id < value; });
  if (sorted != all.end() && (*sorted).*id == wanted) return &*sorted;
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

}  // namespace fathom::diagnosis
