// What groups have in common whose communication is slower than that of groups like them.
//
// Used by ledger/channel_suspects. Model: one group is named by itself. Of several, the one that
// lies inside all others; or the only rank that is in all; or the only node that all reach. A rank
// or node that is also in a group that is well is not named, for its paths are well there; a group
// within a node says nothing of paths between nodes, where all odd groups cross nodes. Only there a
// rank's network is named: in a grid of dimensions two odd groups always meet in one rank, and what
// of that rank is slow they do not tell. Where it is told how nodes hang on their switches, a leaf
// switch on which all odd groups have ranks and no well one that crosses nodes has, and then a
// switch above the leaves, are named likewise.
//
// Thread-safety: pure. Units: seconds. Lifetime: groups are of the view.
// Cost: O(members of the odd and the well groups × log).
#ifndef FATHOM_DIAGNOSIS_LEDGER_ODD_PLACE_H_
#define FATHOM_DIAGNOSIS_LEDGER_ODD_PLACE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/model/job_view.h"
#include "diagnosis/model/topology.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

struct OddGroup {
  const Group* group = nullptr;
  double lost = 0;  // beyond the usual of its family, in the median iteration
};

struct OddPlace {
  Cause cause = Cause::kCommunicationSlow;
  Entity entity;
  std::vector<RankId> victims;  // the other members of the odd groups
  std::string where;            // "of TENSOR (3), ranks 4 and 5,"
};

// Null where they have nothing in common that can be told. Requires: at least one odd group.
std::optional<OddPlace> PlaceOfOdd(const JobView& view, const std::vector<OddGroup>& odd,
                                   const std::vector<const Group*>& well,
                                   const Topology* topology = nullptr);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_LEDGER_ODD_PLACE_H_
