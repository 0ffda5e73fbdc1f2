// Gives a communicator a GroupId that is equal on all its members, on whatever node they run.
//
// Used by rank_pipeline; the id goes to the collector, which joins the members' ops by it.
//
// Model, best first:
//   name and members known            → hash of both
//   members known, or the world       → hash of the members (the world: size == world size)
//   name known                        → hash of name and size
//   nothing known                     → hash of order of construction and size; `guessed`
// A guessed id is the same for disjoint groups that were made at the same place in the program
// (the tensor groups of a grid): whoever reads it must not blame across such a group.
//
// Thread-safety: pure. Errors: none. Cost: one pass over the members.
// Source: FNV-1a 64 (Fowler, Noll, Vo) with a final mix; fixed, because nodes must agree.
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_GROUP_IDENTITY_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_GROUP_IDENTITY_H_

#include <cstdint>
#include <vector>

#include "daemon/agent/source/ring/group_table.h"
#include "proto/types/ids.h"

namespace fathom::agent {

struct GroupIdentity {
  GroupId id;
  bool guessed = false;
  std::vector<std::uint32_t> members;  // global ranks in group order; empty when not known
};

// Requires: facts.ready. world_size 0 = not known.
GroupIdentity IdentifyGroup(const GroupFacts& facts, std::uint32_t world_size);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_GROUP_IDENTITY_H_
