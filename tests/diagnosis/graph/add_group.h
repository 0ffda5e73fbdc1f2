// A communicator of a job made up by hand.
//
// Used by the tests of diagnosis/graph. Thread-safety: thread-compatible. Errors: none.
#ifndef FATHOM_TESTS_DIAGNOSIS_GRAPH_ADD_GROUP_H_
#define FATHOM_TESTS_DIAGNOSIS_GRAPH_ADD_GROUP_H_

#include <cstdint>
#include <initializer_list>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

inline void AddGroup(JobView& view, std::uint64_t id,
                     std::initializer_list<std::uint32_t> members) {
  Group group;
  group.id = GroupId(id);
  group.size = static_cast<std::uint32_t>(members.size());
  for (std::uint32_t member : members) group.members.push_back(RankId(member));
  view.groups.push_back(group);
}

}  // namespace fathom::diagnosis

#endif  // FATHOM_TESTS_DIAGNOSIS_GRAPH_ADD_GROUP_H_
