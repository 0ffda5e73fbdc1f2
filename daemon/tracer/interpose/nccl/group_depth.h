// How deep this thread is in groups of NCCL calls.
//
// Kept by group_shims.cc, read by comm_shims.cc (a communicator that is made inside a group can be
// asked nothing before the group ends) and by op_shims.cc (nothing is launched before).
// Thread-safety: each thread sees its own. TLS is initial-exec: reading it never allocates.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_GROUP_DEPTH_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_GROUP_DEPTH_H_

#include <cstdint>

namespace fathom::tracer::nccl {

struct GroupDepth {
  std::uint32_t depth = 0;
  std::uint32_t ordinal = 0;  // of the outermost group, from 1
  bool made_communicators = false;
};

extern constinit thread_local GroupDepth group_depth __attribute__((visibility("hidden")));

// Which group this thread is in; 0: none.
inline std::uint32_t GroupOfCalls() { return group_depth.depth == 0 ? 0 : group_depth.ordinal; }

}  // namespace fathom::tracer::nccl

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_GROUP_DEPTH_H_
