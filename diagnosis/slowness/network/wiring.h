// How the ranks of a job are wired: their nodes, and a guess at the leaf switches of their NICs.
//
// Used by network_place. Model: no topology is told; the place of a rank among the
// ranks of its node (its rail) stands for its leaf, as rail-wired clusters have it.
//
// Thread-safety: built, then only read. Lifetime: a Reach refers to the ranks it was made of.
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

namespace fathom::diagnosis {

// Where the ranks of one path are. All sorted.
struct Reach {
  const std::vector<RankId>* ranks = nullptr;
  std::vector<std::uint32_t> nodes, leaves;

  bool HasRank(RankId rank) const { return std::binary_search(ranks->begin(), ranks->end(), rank); }
  bool HasNode(std::uint32_t node) const {
    return std::binary_search(nodes.begin(), nodes.end(), node);
  }
  bool HasLeaf(std::uint32_t leaf) const {
    return std::binary_search(leaves.begin(), leaves.end(), leaf);
  }
};

class Wiring {
 public:
  static std::optional<Wiring> Of(const JobView& view);

  // Requires: `path` is sorted and outlives the result.
  Reach ReachOf(const std::vector<RankId>& path) const;
  std::uint32_t NodeOf(RankId rank) const { return places_.at(rank).node; }
  const std::string& NodeName(std::uint32_t node) const { return nodes_[node]; }
  std::string LeafName(std::uint32_t leaf) const;
  std::vector<RankId> OnNode(std::uint32_t node) const;
  std::vector<RankId> OnLeaf(std::uint32_t leaf) const;
  std::vector<RankId> AllRanks() const;

 private:
  struct Place {
    std::uint32_t node = 0, leaf = 0;
  };

  std::map<RankId, Place> places_;
  std::vector<std::string> nodes_, leaves_;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_NETWORK_WIRING_H_
