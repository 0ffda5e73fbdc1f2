// How deep this thread is in groups of NCCL calls.
//
// Kept by group_shims.cc, read by comm_shims.cc: a communicator that is made inside a group can be
// asked nothing before the group ends.
// Thread-safety: each thread sees its own. TLS is initial-exec: reading it never allocates.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_GROUP_DEPTH_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_GROUP_DEPTH_H_

#include <cstdint>

namespace fathom::tracer::nccl {

struct GroupDepth {
  std::uint32_t depth = 0;
  bool made_communicators = false;
};

extern constinit thread_local GroupDepth group_depth __attribute__((visibility("hidden")));

}  // namespace fathom::tracer::nccl

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_GROUP_DEPTH_H_
