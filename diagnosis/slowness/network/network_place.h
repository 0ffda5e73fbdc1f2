// Which device of the network has become slow: the one whose users show and whose others do not.
//
// Used by slowness/judge/judge_groups. Model: candidates are the NIC of a rank, its NVLink, the
// path between two nodes, all NICs of a node, a leaf switch, and what joins all nodes (the spine).
// Each says which channels (network_channels) it slows down: those with a path through it. It must
// explain guilty_share of the slow ones, and no more than the rest of that share of its users may
// be well; of those the one that errs least is named, of equal ones the smaller device. Where two
// of a kind err as little, nothing tells them apart, and none is named. What slow channels cost
// together must be half of explains_share of the excess.
//
// NVLink is a candidate only where devices carry out the ops. Which leaf a rank is on is guessed
// (slowness/network/wiring), which the verdict says.
//
// Thread-safety: pure. Errors: null where nodes are not known or nothing stands out.
// Cost: O(channels × their members × candidates); a candidate is an end of guilty_share of all slow
// channels. Source: C4's rows and columns (docs/rules/link_slow.md), for groups and pairs alike.
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_NETWORK_NETWORK_PLACE_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_NETWORK_NETWORK_PLACE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/evidence/rule.h"
#include "diagnosis/model/entity.h"

namespace fathom::diagnosis {

struct NetworkPlace {
  Entity entity;
  std::string where;            // "through the NIC of rank 5 (node-1)"
  std::vector<RankId> victims;  // other ranks on the slow channels
  std::size_t slow = 0;         // channels that it explains
  std::size_t slow_in_all = 0;
  std::size_t users_well = 0;  // that it should slow down and does not
  std::size_t others_well = 0;
  double growth = 1;     // of the slow ones, median
  double lost_s = 0;     // of an iteration
  bool guessed = false;  // leaves from numbers of GPUs
};

// `excess`: of an iteration, seconds.
[[nodiscard]] std::optional<NetworkPlace> FindNetworkPlace(const Case& c, double excess);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_NETWORK_NETWORK_PLACE_H_
