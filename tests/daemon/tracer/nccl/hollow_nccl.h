// An NCCL that does nothing but keep what it was given, with all that nccl.h 2.32 has to call.
//
// Built into libhollow_nccl.so, which libhollow_calls.so is linked with as PyTorch's library is
// with the real one. Declared here because headers of 2.32 are not at hand everywhere;
// signatures.cc compares the tracer's own list with the real header. Thread-safety: one thread.
// Errors: each call gives back `hollow_result`.
#ifndef FATHOM_TESTS_DAEMON_TRACER_NCCL_HOLLOW_NCCL_H_
#define FATHOM_TESTS_DAEMON_TRACER_NCCL_HOLLOW_NCCL_H_

#include <cstddef>

extern "C" {

using HollowComm = struct HollowCommunicator*;
using HollowStream = void*;
struct HollowId {
  char bytes[128];
};
struct HollowConfig {  // as of 2.28
  std::size_t size;
  unsigned magic, version;
  int before_name[4];
  const char* net_name;
  int split_share, traffic_class;
  const char* name;
};

extern char hollow_given[256];  // the last call: its name and arguments
extern int hollow_result;
extern void (*hollow_way_out)();  // called inside the next call that moves data; null: nothing is

// clang-format off
#define HOLLOW_REDUCE const void* send, void* recv, std::size_t count, int type, int op
#define HOLLOW_MOVE const void* send, void* recv, std::size_t count, int type
#define HOLLOW_END HollowComm comm, HollowStream stream
int ncclAllReduce(HOLLOW_REDUCE, HOLLOW_END);
int ncclReduce(HOLLOW_REDUCE, int root, HOLLOW_END);
int ncclReduceScatter(HOLLOW_REDUCE, HOLLOW_END);
int ncclBroadcast(HOLLOW_MOVE, int root, HOLLOW_END);
int ncclBcast(void* buffer, std::size_t count, int type, int root, HOLLOW_END);
int ncclAllGather(HOLLOW_MOVE, HOLLOW_END);
int ncclAlltoAll(HOLLOW_MOVE, HOLLOW_END);
int ncclGather(HOLLOW_MOVE, int root, HOLLOW_END);
int ncclScatter(HOLLOW_MOVE, int root, HOLLOW_END);
int ncclSend(const void* buffer, std::size_t count, int type, int peer, HOLLOW_END);
int ncclRecv(void* buffer, std::size_t count, int type, int peer, HOLLOW_END);
int ncclAllReduceConfig(HOLLOW_REDUCE, HOLLOW_END, const void* config);
int ncclReduceConfig(HOLLOW_REDUCE, int root, HOLLOW_END, const void* config);
int ncclReduceScatterConfig(HOLLOW_REDUCE, HOLLOW_END, const void* config);
int ncclBroadcastConfig(HOLLOW_MOVE, int root, HOLLOW_END, const void* config);
int ncclAllGatherConfig(HOLLOW_MOVE, HOLLOW_END, const void* config);
int ncclAlltoAllConfig(HOLLOW_MOVE, HOLLOW_END, const void* config);
int ncclGatherConfig(HOLLOW_MOVE, int root, HOLLOW_END, const void* config);
int ncclScatterConfig(HOLLOW_MOVE, int root, HOLLOW_END, const void* config);
// clang-format on

int ncclCommInitRank(HollowComm* comm, int size, HollowId id, int rank);
int ncclCommInitRankConfig(HollowComm* comm, int size, HollowId id, int rank, HollowConfig* config);
int ncclCommInitRankScalable(HollowComm* comm, int size, int rank, int id_count, HollowId* ids,
                             HollowConfig* config);
int ncclCommInitAll(HollowComm* comms, int count, const int* devices);
int ncclCommSplit(HollowComm comm, int color, int key, HollowComm* made, HollowConfig* config);
int ncclCommShrink(HollowComm comm, int* excluded, int count, HollowComm* made,
                   HollowConfig* config, int flags);
int ncclCommGrow(HollowComm comm, int size, const HollowId* id, int rank, HollowComm* made,
                 HollowConfig* config);
int ncclCommFinalize(HollowComm comm);
int ncclCommDestroy(HollowComm comm);
int ncclCommAbort(HollowComm comm);
int ncclCommRevoke(HollowComm comm, int flags);
int ncclCommGetAsyncError(HollowComm comm, int* error);
int ncclCommCount(HollowComm comm, int* count);
int ncclCommUserRank(HollowComm comm, int* rank);
int ncclGroupStart();
int ncclGroupEnd();

}  // extern "C"

#endif  // FATHOM_TESTS_DAEMON_TRACER_NCCL_HOLLOW_NCCL_H_
