// How the ranks of a job are wired: their nodes, and the switches of their NICs.
//
// Used by network_place. Model: leaf switches and those above them as a topology tells them. Where
// none is told, or not of all nodes, the place of a rank among the ranks of its node (its rail)
// stands for its leaf, as rail-wired clusters have it, and one switch for all that joins nodes.
//
// Thread-safety: built, then only read. Lifetime: a Reach refers to the ranks it was made of,
// a Wiring to the topology.
// Errors: null where the node of a rank is not known. Cost: O(ranks) to build, O(ranks of the path
// × log) a Reach.
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_NETWORK_WIRING_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_NETWORK_WIRING_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/model/job_view.h"
#include "diagnosis/model/topology.h"

namespace fathom::diagnosis {

// Where the ranks of one path are. All sorted.
struct Reach {
  const std::vector<RankId>* ranks = nullptr;
  std::vector<std::uint32_t> nodes, leaves;
  std::vector<std::uint32_t> spines;  // switches above the leaves that it goes through

  bool HasRank(RankId rank) const { return std::binary_search(ranks->begin(), ranks->end(), rank); }
  bool HasNode(std::uint32_t node) const {
    return std::binary_search(nodes.begin(), nodes.end(), node);
  }
  bool HasLeaf(std::uint32_t leaf) const {
    return std::binary_search(leaves.begin(), leaves.end(), leaf);
  }
  bool HasSpine(std::uint32_t spine) const {
    return std::binary_search(spines.begin(), spines.end(), spine);
  }
};

class Wiring {
 public:
  static std::optional<Wiring> Of(const JobView& view, const Topology* topology = nullptr);

  // Requires: `path` is sorted and outlives the result.
  Reach ReachOf(const std::vector<RankId>& path) const;
  std::uint32_t NodeOf(RankId rank) const { return places_.at(rank).node; }
  const std::string& NodeName(std::uint32_t node) const { return nodes_[node]; }
  std::string LeafName(std::uint32_t leaf) const;
  std::vector<RankId> OnNode(std::uint32_t node) const;
  std::vector<RankId> OnLeaf(std::uint32_t leaf) const;
  std::string SpineName(std::uint32_t spine) const;  // "spine" where it is guessed
  std::vector<RankId> BelowSpine(std::uint32_t spine) const;
  bool told() const { return topology_ != nullptr; }

 private:
  struct Place {
    std::uint32_t node = 0, leaf = 0;
  };

  std::map<RankId, Place> places_;
  void PlaceAsTold(const JobView& view, const Topology& topology);
  void Guess(const JobView& view);
  std::vector<std::uint32_t> SpinesOf(const Reach& reach) const;

  std::vector<std::string> nodes_, leaves_;
  std::vector<std::string> spines_;     // as told
  const Topology* topology_ = nullptr;  // null: guessed
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_NETWORK_WIRING_H_
