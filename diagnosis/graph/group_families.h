// Groups that should communicate alike, and how long each took in every iteration.
//
// Used by rules/odd_group.
//
// Model: a family shares description, the distances between neighbouring members, and how many
// members lie on each node (sorted, so that the nodes themselves do not matter). Of a group and an
// iteration the transfers of all its collectives are summed: the shortest elapsed time of an op's
// members, which is that of the last to arrive. Only groups with the same ops (kind, bytes, how
// often) in an iteration are compared there.
//
// Left out: groups whose members are guessed or not known, and ops of which a member is missing or
// not done. Units: seconds. Thread-safety: pure. Cost: O(ops + groups × iterations × log groups).
#ifndef FATHOM_DIAGNOSIS_GRAPH_GROUP_FAMILIES_H_
#define FATHOM_DIAGNOSIS_GRAPH_GROUP_FAMILIES_H_

#include <cstddef>
#include <vector>

#include "diagnosis/graph/instances.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

// One group against its family; an entry an iteration in which others did the same.
struct FamilyMember {
  const Group* group = nullptr;
  std::vector<double> mine;
  std::vector<double> usual;  // the lower median of all that did the same, itself included
};

struct GroupFamily {
  bool nodes_known = true;  // of all members
  std::vector<FamilyMember> members;
};

// Families of two groups and more. Lifetime: of the view.
std::vector<GroupFamily> FamiliesOf(const JobView& view, const Instances& instances);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_GRAPH_GROUP_FAMILIES_H_
