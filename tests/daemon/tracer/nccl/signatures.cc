// Compares every op of the tracer's list with the real nccl.h: same parameters, as far as the
// calling convention can tell them apart. Compiled only; a difference does not build.
#include <nccl.h>

#include "daemon/tracer/interpose/nccl/abi.h"
#include "daemon/tracer/interpose/nccl/functions.h"
#include "tests/daemon/tracer/nccl/alike.h"

namespace fathom::tracer::nccl {
namespace {

using tracer_test::kSame;

#define FATHOM_SAME(name, real, parameters) \
  static_assert(kSame<decltype(&::real), int(*) parameters>, #name)

using Id = UniqueId;
using Config = NcclConfig;

// What NCCL has had since 2.28.
FATHOM_SAME(AllReduce, ncclAllReduce, (FATHOM_NCCL_REDUCE_PARAMETERS));
FATHOM_SAME(Reduce, ncclReduce, (FATHOM_NCCL_ROOTED_REDUCE_PARAMETERS));
FATHOM_SAME(ReduceScatter, ncclReduceScatter, (FATHOM_NCCL_REDUCE_PARAMETERS));
FATHOM_SAME(Broadcast, ncclBroadcast, (FATHOM_NCCL_ROOTED_MOVE_PARAMETERS));
FATHOM_SAME(Bcast, ncclBcast, (void*, size_t, int, int, Comm, Stream));
FATHOM_SAME(AllGather, ncclAllGather, (FATHOM_NCCL_MOVE_PARAMETERS));
FATHOM_SAME(AlltoAll, ncclAlltoAll, (FATHOM_NCCL_MOVE_PARAMETERS));
FATHOM_SAME(Gather, ncclGather, (FATHOM_NCCL_ROOTED_MOVE_PARAMETERS));
FATHOM_SAME(Scatter, ncclScatter, (FATHOM_NCCL_ROOTED_MOVE_PARAMETERS));
FATHOM_SAME(Send, ncclSend, (const void*, size_t, int, int, Comm, Stream));
FATHOM_SAME(Recv, ncclRecv, (void*, size_t, int, int, Comm, Stream));
FATHOM_SAME(InitRank, ncclCommInitRank, (Comm*, int, Id, int));
FATHOM_SAME(InitRankConfig, ncclCommInitRankConfig, (Comm*, int, Id, int, Config*));
FATHOM_SAME(InitScalable, ncclCommInitRankScalable, (Comm*, int, int, int, Id*, Config*));
FATHOM_SAME(InitAll, ncclCommInitAll, (Comm*, int, const int*));
FATHOM_SAME(Split, ncclCommSplit, (Comm, int, int, Comm*, Config*));
FATHOM_SAME(Shrink, ncclCommShrink, (Comm, int*, int, Comm*, Config*, int));
FATHOM_SAME(Revoke, ncclCommRevoke, (Comm, int));
FATHOM_SAME(Finalize, ncclCommFinalize, (Comm));
FATHOM_SAME(Destroy, ncclCommDestroy, (Comm));
FATHOM_SAME(CuDevice, ncclCommCuDevice, (Comm, int*));
FATHOM_SAME(Abort, ncclCommAbort, (Comm));
FATHOM_SAME(AsyncError, ncclCommGetAsyncError, (Comm, ncclResult_t*));
FATHOM_SAME(GroupStart, ncclGroupStart, ());
FATHOM_SAME(GroupEnd, ncclGroupEnd, ());

// What came later, where the header has it.
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 32, 0)
#define FATHOM_SAME_WITH_CONFIG(name, parameters) \
  FATHOM_SAME(name##Config, nccl##name##Config, FATHOM_NCCL_WITH_CONFIG parameters)
FATHOM_SAME_WITH_CONFIG(AllReduce, (FATHOM_NCCL_REDUCE_PARAMETERS));
FATHOM_SAME_WITH_CONFIG(Reduce, (FATHOM_NCCL_ROOTED_REDUCE_PARAMETERS));
FATHOM_SAME_WITH_CONFIG(ReduceScatter, (FATHOM_NCCL_REDUCE_PARAMETERS));
FATHOM_SAME_WITH_CONFIG(Broadcast, (FATHOM_NCCL_ROOTED_MOVE_PARAMETERS));
FATHOM_SAME_WITH_CONFIG(AllGather, (FATHOM_NCCL_MOVE_PARAMETERS));
FATHOM_SAME_WITH_CONFIG(AlltoAll, (FATHOM_NCCL_MOVE_PARAMETERS));
FATHOM_SAME_WITH_CONFIG(Gather, (FATHOM_NCCL_ROOTED_MOVE_PARAMETERS));
FATHOM_SAME_WITH_CONFIG(Scatter, (FATHOM_NCCL_ROOTED_MOVE_PARAMETERS));
FATHOM_SAME(Grow, ncclCommGrow, (Comm, int, const Id*, int, Comm*, Config*));
#endif

static_assert(offsetof(ncclConfig_t, magic) == offsetof(NcclConfig, magic));
static_assert(offsetof(ncclConfig_t, commName) == offsetof(NcclConfig, comm_name));
static_assert(sizeof(ncclUniqueId) == sizeof(UniqueId) && ncclInProgress == kInProgress);
static_assert(ncclFloat8e5m2 == 11 && ncclBfloat16 == 9 && ncclFloat32 == 7);

}  // namespace
}  // namespace fathom::tracer::nccl
