#include "diagnosis/slowness/network/wiring.h"

#include <set>

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

std::optional<Wiring> Wiring::Of(const JobView& view, const Topology* topology) {
  Wiring wiring;
  for (const RankFacts& facts : view.ranks) {
    if (facts.node.empty()) return std::nullopt;
  }
  if (topology != nullptr) wiring.PlaceAsTold(view, *topology);
  if (!wiring.told()) wiring.Guess(view);
  if (wiring.places_.empty()) return std::nullopt;
  return wiring;
}

void Wiring::PlaceAsTold(const JobView& view, const Topology& topology) {
  const std::map<RankId, std::string> told = LeavesOf(view, topology);
  if (told.empty()) return;
  topology_ = &topology;
  std::map<std::string, std::uint32_t> nodes, leaves;
  for (const RankFacts& facts : view.ranks) {
    places_[facts.rank] = {NumberOf(facts.node, nodes, nodes_),
                           NumberOf(told.at(facts.rank), leaves, leaves_)};
  }
  const std::set<std::string> all(leaves_.begin(), leaves_.end());
  const std::set<std::string> above = SwitchesBetween(topology, all);
  spines_.assign(above.begin(), above.end());
}

void Wiring::Guess(const JobView& view) {
  std::map<std::string, std::uint32_t> nodes, leaves, on_node;
  for (const RankFacts& facts : view.ranks) {
    const std::string leaf = absl::StrCat("rail ", on_node[facts.node]++);
    places_[facts.rank] = {NumberOf(facts.node, nodes, nodes_), NumberOf(leaf, leaves, leaves_)};
  }
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
  if (reach.nodes.size() > 1) reach.spines = SpinesOf(reach);
  return reach;
}

std::vector<std::uint32_t> Wiring::SpinesOf(const Reach& reach) const {
  if (!told()) return {0};
  std::set<std::string> leaves;
  for (const std::uint32_t leaf : reach.leaves) leaves.insert(leaves_[leaf]);
  std::vector<std::uint32_t> out;
  for (const std::string& each : SwitchesBetween(*topology_, leaves)) {
    const auto at = std::lower_bound(spines_.begin(), spines_.end(), each);
    if (at != spines_.end() && *at == each) {
      out.push_back(static_cast<std::uint32_t>(at - spines_.begin()));
    }
  }
  return out;
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

std::string Wiring::SpineName(std::uint32_t spine) const {
  return told() ? spines_[spine] : "spine";
}

std::vector<RankId> Wiring::BelowSpine(std::uint32_t spine) const {
  std::vector<RankId> ranks;
  for (const auto& [rank, place] : places_) {
    if (!told() || HangsOn(*topology_, leaves_[place.leaf], spines_[spine])) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace fathom::diagnosis
