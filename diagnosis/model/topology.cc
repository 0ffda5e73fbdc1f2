#include "diagnosis/model/topology.h"

#include <utility>

namespace fathom::diagnosis {
namespace {

// From the switch itself upwards. A reader lets no circle through; a bound all the same.
std::vector<std::string> Upwards(const Topology& topology, std::string_view from) {
  constexpr std::size_t kMostTiers = 64;
  std::vector<std::string> path{std::string(from)};
  for (;;) {
    const auto at = topology.above.find(path.back());
    if (at == topology.above.end() || path.size() == kMostTiers) return path;
    path.push_back(at->second);
  }
}

}  // namespace

std::string LeafOf(const Topology& topology, std::string_view node, std::uint32_t gpu) {
  auto at = topology.leaves.find(node);
  if (at == topology.leaves.end()) at = topology.leaves.find(node.substr(0, node.find('.')));
  if (at == topology.leaves.end()) return "";
  for (const Topology::Leaf& leaf : at->second) {
    if (leaf.gpus.empty() || leaf.gpus.contains(gpu)) return leaf.name;
  }
  return "";
}

std::map<RankId, std::string> LeavesOf(const JobView& view, const Topology& topology) {
  std::map<RankId, std::string> leaves;
  std::map<std::string, std::uint32_t> on_node;
  for (const RankFacts& facts : view.ranks) {
    std::string leaf = LeafOf(topology, facts.node, on_node[facts.node]++);
    if (leaf.empty()) return {};
    leaves.emplace(facts.rank, std::move(leaf));
  }
  return leaves;
}

std::set<std::string> SwitchesBetween(const Topology& topology,
                                      const std::set<std::string>& leaves) {
  std::set<std::string> out;
  if (leaves.size() < 2) return out;
  // Up from every leaf to the first switch that all hang on.
  std::map<std::string, std::size_t> hang_on;
  for (const std::string& leaf : leaves) {
    for (const std::string& each : Upwards(topology, leaf)) ++hang_on[each];
  }
  for (const std::string& leaf : leaves) {
    for (const std::string& each : Upwards(topology, leaf)) {
      if (each != leaf) out.insert(each);
      if (hang_on[each] == leaves.size()) break;
    }
  }
  return out;
}

bool HangsOn(const Topology& topology, std::string_view leaf, std::string_view upper) {
  for (const std::string& each : Upwards(topology, leaf)) {
    if (each == upper) return true;
  }
  return false;
}

}  // namespace fathom::diagnosis
