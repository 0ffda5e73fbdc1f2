#include "diagnosis/slowness/network/wiring.h"

#include "absl/strings/str_cat.h"

namespace fathom::diagnosis {
namespace {

std::uint32_t NumberOf(const std::string& name, std::map<std::string, std::uint32_t>& known,
                       std::vector<std::string>& names) {
  const auto [at, fresh] = known.try_emplace(name, static_cast<std::uint32_t>(names.size()));
  if (fresh) names.push_back(name);
  return at->second;
}

void Unite(std::vector<std::uint32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

std::optional<Wiring> Wiring::Of(const JobView& view) {
  Wiring wiring;
  std::map<std::string, std::uint32_t> nodes, leaves, on_node;
  for (const RankFacts& facts : view.ranks) {
    if (facts.node.empty()) return std::nullopt;
    const std::string leaf = absl::StrCat("rail ", on_node[facts.node]++);
    wiring.places_[facts.rank] = {NumberOf(facts.node, nodes, wiring.nodes_),
                                  NumberOf(leaf, leaves, wiring.leaves_)};
  }
  if (wiring.places_.empty()) return std::nullopt;
  return wiring;
}

Reach Wiring::ReachOf(const std::vector<RankId>& path) const {
  Reach reach;
  reach.ranks = &path;
  for (const RankId rank : path) {
    const auto place = places_.find(rank);
    if (place == places_.end()) continue;
    reach.nodes.push_back(place->second.node);
    reach.leaves.push_back(place->second.leaf);
  }
  Unite(reach.nodes);
  Unite(reach.leaves);
  return reach;
}

std::string Wiring::LeafName(std::uint32_t leaf) const { return leaves_[leaf]; }

std::vector<RankId> Wiring::OnNode(std::uint32_t node) const {
  std::vector<RankId> ranks;
  for (const auto& [rank, place] : places_) {
    if (place.node == node) ranks.push_back(rank);
  }
  return ranks;
}

std::vector<RankId> Wiring::OnLeaf(std::uint32_t leaf) const {
  std::vector<RankId> ranks;
  for (const auto& [rank, place] : places_) {
    if (place.leaf == leaf) ranks.push_back(rank);
  }
  return ranks;
}

std::vector<RankId> Wiring::AllRanks() const {
  std::vector<RankId> ranks;
  for (const auto& [rank, place] : places_) ranks.push_back(rank);
  return ranks;
}

}  // namespace fathom::diagnosis
