#include "diagnosis/graph/group_shape.h"

#include <algorithm>
#include <map>
#include <string>

#include "diagnosis/model/lookup.h"

namespace fathom::diagnosis {

std::vector<std::uint32_t> DistancesIn(const std::vector<RankId>& members) {
  std::vector<std::uint32_t> distances;
  for (std::size_t i = 1; i < members.size(); ++i) {
    distances.push_back(members[i].value - members[i - 1].value);
  }
  return distances;
}

std::vector<std::size_t> SpreadOf(const JobView& view, const std::vector<RankId>& members) {
  std::map<std::string, std::size_t> on_node;
  for (const RankId rank : members) {
    const std::string node = NodeOf(view, rank);
    if (node.empty()) return {};
    ++on_node[node];
  }
  std::vector<std::size_t> spread;
  for (const auto& [node, count] : on_node) spread.push_back(count);
  std::sort(spread.begin(), spread.end());
  return spread;
}

}  // namespace fathom::diagnosis
