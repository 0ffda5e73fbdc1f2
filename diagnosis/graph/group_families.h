// Groups that should communicate alike, and how long each took in every iteration.
//
// Used by slowness/rules/odd_group.
//
// Model: a family shares description, the distances between neighbouring members, how many members
// lie on each node (sorted, so that the nodes themselves do not matter), and in all its iterations
// the same ops (kind, bytes, how often). So each of its groups was compared with each other one in
// every iteration that the family has. Of a group and an iteration the time is that in which a
// transfer was under way, those that overlap counted once: from the arrival of an op's last member,
// that of shortest elapsed time, to its end. On the clock of each member; the least of them.
//
// Left out: groups whose members are guessed or not known, and iterations with an op of which a
// member is missing or not done, with an all-to-all, whose members need not send as much as each
// other, or with an op whose size differs between members or is not known. An all-reduce of unknown
// size is held to be as large as those of its family, except in pipelines: stages may differ.
// Units: seconds. Thread-safety: pure. Cost: O(ops × log ops + groups × iterations × log groups).
#ifndef FATHOM_DIAGNOSIS_GRAPH_GROUP_FAMILIES_H_
#define FATHOM_DIAGNOSIS_GRAPH_GROUP_FAMILIES_H_

#include <cstddef>
#include <vector>

#include "diagnosis/graph/instances.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

struct FamilyMember {
  const Group* group = nullptr;
  std::vector<double> seconds;  // an entry an iteration of the family
};

struct GroupFamily {
  bool nodes_known = true;            // of all members
  std::vector<Iteration> iterations;  // ascending
  std::vector<double> usual;          // the lower median of all its groups; likewise
  std::vector<FamilyMember> members;
};

// Families of two groups and more that have `least` iterations in common; a group whose ops differ
// between iterations may be in several. Groups with fewer iterations are in none. Requires:
// least > 0. Lifetime: of the view.
std::vector<GroupFamily> FamiliesOf(const JobView& view, const Instances& instances,
                                    std::size_t least);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_GRAPH_GROUP_FAMILIES_H_
