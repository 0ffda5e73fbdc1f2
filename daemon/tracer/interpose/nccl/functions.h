// The one list of NCCL's functions that are interposed: shims, exports and pages come from it.
//
// Expanded by op_shims.cc; compared with exports.map, docs/tracer/nccl.md and the real nccl.h by
// tests/daemon/tracer/nccl.
//
// X(name, parameters, arguments, kind, share, reduction, peer)
//   name        without "nccl"
//   parameters  named so that `count`, `type`, `comm` and `stream` are in each
//   kind        CollectiveKind
//   share       bytes are `count` elements, times the group's size where it is kOfEachMember
//   reduction   ncclRedOp_t + 1, 0 where there is none
//   peer        root or other end, kNobody where there is none
//
// Not in the list, on purpose: what moves nothing (ncclMemAlloc, ncclRedOpCreate…, registrations,
// parameters), what cannot be told apart from its peers by (group, sequence) because only one side
// calls it (ncclPutSignal, ncclSignal, ncclWaitSignal), and the pncclX twins, which are for tools
// such as this one.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_FUNCTIONS_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_FUNCTIONS_H_

#define FATHOM_NCCL_REDUCE_PARAMETERS \
  const void *send, void *recv, size_t count, int type, int op, Comm comm, Stream stream
#define FATHOM_NCCL_ROOTED_REDUCE_PARAMETERS \
  const void *send, void *recv, size_t count, int type, int op, int root, Comm comm, Stream stream
#define FATHOM_NCCL_MOVE_PARAMETERS \
  const void *send, void *recv, size_t count, int type, Comm comm, Stream stream
#define FATHOM_NCCL_ROOTED_MOVE_PARAMETERS \
  const void *send, void *recv, size_t count, int type, int root, Comm comm, Stream stream
#define FATHOM_NCCL_WITH_CONFIG(...) (__VA_ARGS__, const void* config)

#define FATHOM_NCCL_OPS(X)                                                                         \
  X(AllReduce, (FATHOM_NCCL_REDUCE_PARAMETERS), (send, recv, count, type, op, comm, stream),       \
    Kind::kAllReduce, kOnce, ReductionOf(op), kNobody)                                             \
  X(Reduce, (FATHOM_NCCL_ROOTED_REDUCE_PARAMETERS),                                                \
    (send, recv, count, type, op, root, comm, stream), Kind::kReduce, kOnce, ReductionOf(op),      \
    root)                                                                                          \
  X(ReduceScatter, (FATHOM_NCCL_REDUCE_PARAMETERS), (send, recv, count, type, op, comm, stream),   \
    Kind::kReduceScatter, kOfEachMember, ReductionOf(op), kNobody)                                 \
  X(Broadcast, (FATHOM_NCCL_ROOTED_MOVE_PARAMETERS),                                               \
    (send, recv, count, type, root, comm, stream), Kind::kBroadcast, kOnce, 0, root)               \
  X(Bcast, (void* buffer, size_t count, int type, int root, Comm comm, Stream stream),             \
    (buffer, count, type, root, comm, stream), Kind::kBroadcast, kOnce, 0, root)                   \
  X(AllGather, (FATHOM_NCCL_MOVE_PARAMETERS), (send, recv, count, type, comm, stream),             \
    Kind::kAllGather, kOnce, 0, kNobody)                                                           \
  X(AlltoAll, (FATHOM_NCCL_MOVE_PARAMETERS), (send, recv, count, type, comm, stream),              \
    Kind::kAllToAll, kOfEachMember, 0, kNobody)                                                    \
  X(Gather, (FATHOM_NCCL_ROOTED_MOVE_PARAMETERS), (send, recv, count, type, root, comm, stream),   \
    Kind::kGather, kOnce, 0, root)                                                                 \
  X(Scatter, (FATHOM_NCCL_ROOTED_MOVE_PARAMETERS), (send, recv, count, type, root, comm, stream),  \
    Kind::kScatter, kOnce, 0, root)                                                                \
  X(Send, (const void* buffer, size_t count, int type, int peer, Comm comm, Stream stream),        \
    (buffer, count, type, peer, comm, stream), Kind::kSend, kOnce, 0, peer)                        \
  X(Recv, (void* buffer, size_t count, int type, int peer, Comm comm, Stream stream),              \
    (buffer, count, type, peer, comm, stream), Kind::kRecv, kOnce, 0, peer)                        \
  X(AllReduceConfig, FATHOM_NCCL_WITH_CONFIG(FATHOM_NCCL_REDUCE_PARAMETERS),                       \
    (send, recv, count, type, op, comm, stream, config), Kind::kAllReduce, kOnce, ReductionOf(op), \
    kNobody)                                                                                       \
  X(ReduceConfig, FATHOM_NCCL_WITH_CONFIG(FATHOM_NCCL_ROOTED_REDUCE_PARAMETERS),                   \
    (send, recv, count, type, op, root, comm, stream, config), Kind::kReduce, kOnce,               \
    ReductionOf(op), root)                                                                         \
  X(ReduceScatterConfig, FATHOM_NCCL_WITH_CONFIG(FATHOM_NCCL_REDUCE_PARAMETERS),                   \
    (send, recv, count, type, op, comm, stream, config), Kind::kReduceScatter, kOfEachMember,      \
    ReductionOf(op), kNobody)                                                                      \
  X(BroadcastConfig, FATHOM_NCCL_WITH_CONFIG(FATHOM_NCCL_ROOTED_MOVE_PARAMETERS),                  \
    (send, recv, count, type, root, comm, stream, config), Kind::kBroadcast, kOnce, 0, root)       \
  X(AllGatherConfig, FATHOM_NCCL_WITH_CONFIG(FATHOM_NCCL_MOVE_PARAMETERS),                         \
    (send, recv, count, type, comm, stream, config), Kind::kAllGather, kOnce, 0, kNobody)          \
  X(AlltoAllConfig, FATHOM_NCCL_WITH_CONFIG(FATHOM_NCCL_MOVE_PARAMETERS),                          \
    (send, recv, count, type, comm, stream, config), Kind::kAllToAll, kOfEachMember, 0, kNobody)   \
  X(GatherConfig, FATHOM_NCCL_WITH_CONFIG(FATHOM_NCCL_ROOTED_MOVE_PARAMETERS),                     \
    (send, recv, count, type, root, comm, stream, config), Kind::kGather, kOnce, 0, root)          \
  X(ScatterConfig, FATHOM_NCCL_WITH_CONFIG(FATHOM_NCCL_ROOTED_MOVE_PARAMETERS),                    \
    (send, recv, count, type, root, comm, stream, config), Kind::kScatter, kOnce, 0, root)

// Functions that make a communicator, end one, bracket a group, or ask how one is. Their shims are
// written out in comm_shims.cc and group_shims.cc.
// clang-format off
#define FATHOM_NCCL_CONTROL(X)                                                       \
  X(CommInitRank) X(CommInitRankConfig) X(CommInitRankScalable) X(CommInitAll)       \
  X(CommSplit) X(CommShrink) X(CommGrow) X(CommFinalize) X(CommDestroy) X(CommAbort) \
  X(CommRevoke) X(CommGetAsyncError) X(GroupStart) X(GroupEnd)
// clang-format on

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_FUNCTIONS_H_
