#include "tests/daemon/tracer/nccl/hollow_nccl.h"

#include <stdio.h>

struct HollowCommunicator {
  int size, rank;
};

char hollow_given[256];
int hollow_result = 0;
void (*hollow_way_out)() = nullptr;

namespace {

HollowCommunicator communicators[32];
int made_so_far = 0;

// By hand: the way of a call must not allocate, nor ask the C library for anything.
void Add(char*& at, unsigned long long value) {
  char digits[24];
  int n = 0;
  do digits[n++] = static_cast<char>('0' + value % 10);
  while ((value /= 10) != 0);
  *at++ = ' ';
  while (n > 0) *at++ = digits[--n];
}
void Add(char*& at, const void* value) { Add(at, reinterpret_cast<unsigned long long>(value)); }
void Add(char*& at, int value) { Add(at, static_cast<unsigned long long>(value)); }
void Add(char*& at, std::size_t value) { Add(at, static_cast<unsigned long long>(value)); }

template <typename... Args>
int Given(const char* name, Args... args) {
  char* at = hollow_given;
  while (*name != '\0') *at++ = *name++;
  (Add(at, args), ...);
  *at = '\0';
  if (hollow_way_out != nullptr) hollow_way_out();
  return hollow_result;
}

int Make(HollowComm* comm, int size, int rank) {
  if (hollow_result != 0) return hollow_result;
  communicators[made_so_far] = {size, rank};
  *comm = &communicators[made_so_far++];
  return 0;
}

}  // namespace

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define PASS(name, parameters, ...) \
  int nccl##name parameters { return Given(#name, __VA_ARGS__); }
// clang-format off
PASS(AllReduce, (HOLLOW_REDUCE, HOLLOW_END), send, recv, count, type, op, stream)
PASS(Reduce, (HOLLOW_REDUCE, int root, HOLLOW_END), send, recv, count, type, op, root, stream)
PASS(ReduceScatter, (HOLLOW_REDUCE, HOLLOW_END), send, recv, count, type, op, stream)
PASS(Broadcast, (HOLLOW_MOVE, int root, HOLLOW_END), send, recv, count, type, root, stream)
PASS(Bcast, (void* buffer, std::size_t count, int type, int root, HOLLOW_END), buffer, count, type, root, stream)
PASS(AllGather, (HOLLOW_MOVE, HOLLOW_END), send, recv, count, type, stream)
PASS(AlltoAll, (HOLLOW_MOVE, HOLLOW_END), send, recv, count, type, stream)
PASS(Gather, (HOLLOW_MOVE, int root, HOLLOW_END), send, recv, count, type, root, stream)
PASS(Scatter, (HOLLOW_MOVE, int root, HOLLOW_END), send, recv, count, type, root, stream)
PASS(Send, (const void* buffer, std::size_t count, int type, int peer, HOLLOW_END), buffer, count, type, peer, stream)
PASS(Recv, (void* buffer, std::size_t count, int type, int peer, HOLLOW_END), buffer, count, type, peer, stream)
PASS(AllReduceConfig, (HOLLOW_REDUCE, HOLLOW_END, const void* config), send, recv, count, type, op, stream, config)
PASS(ReduceConfig, (HOLLOW_REDUCE, int root, HOLLOW_END, const void* config), send, recv, count, type, op, root, stream, config)
PASS(ReduceScatterConfig, (HOLLOW_REDUCE, HOLLOW_END, const void* config), send, recv, count, type, op, stream, config)
PASS(BroadcastConfig, (HOLLOW_MOVE, int root, HOLLOW_END, const void* config), send, recv, count, type, root, stream, config)
PASS(AllGatherConfig, (HOLLOW_MOVE, HOLLOW_END, const void* config), send, recv, count, type, stream, config)
PASS(AlltoAllConfig, (HOLLOW_MOVE, HOLLOW_END, const void* config), send, recv, count, type, stream, config)
PASS(GatherConfig, (HOLLOW_MOVE, int root, HOLLOW_END, const void* config), send, recv, count, type, root, stream, config)
PASS(ScatterConfig, (HOLLOW_MOVE, int root, HOLLOW_END, const void* config), send, recv, count, type, root, stream, config)
PASS(CommFinalize, (HollowComm), 0)
PASS(CommDestroy, (HollowComm), 0)
PASS(CommAbort, (HollowComm), 0)
PASS(CommRevoke, (HollowComm, int flags), flags)
PASS(GroupStart, (), 0)
PASS(GroupEnd, (), 0)
// clang-format on

int ncclCommInitRank(HollowComm* comm, int size, HollowId id, int rank) {
  Given("InitRank", size, id.bytes[0], id.bytes[127], rank);
  return Make(comm, size, rank);
}
int ncclCommInitRankConfig(HollowComm* comm, int size, HollowId id, int rank,
                           HollowConfig* config) {
  Given("InitRankConfig", size, id.bytes[0], id.bytes[127], rank, config);
  return Make(comm, size, rank);
}
int ncclCommInitRankScalable(HollowComm* comm, int size, int rank, int id_count, HollowId* ids,
                             HollowConfig* config) {
  Given("InitRankScalable", size, rank, id_count, ids, config);
  return Make(comm, size, rank);
}
int ncclCommInitAll(HollowComm* comms, int count, const int* devices) {
  Given("InitAll", comms, count, devices);
  for (int i = 0; i < count; ++i) Make(&comms[i], count, i);
  return hollow_result;
}
int ncclCommSplit(HollowComm comm, int color, int key, HollowComm* made, HollowConfig* config) {
  Given("Split", color, key, made, config);
  return Make(made, comm->size / 2, comm->rank / 2);
}
int ncclCommShrink(HollowComm comm, int* excluded, int count, HollowComm* made,
                   HollowConfig* config, int flags) {
  Given("Shrink", excluded, count, made, config, flags);
  return Make(made, comm->size - count, comm->rank);
}
int ncclCommGrow(HollowComm, int size, const HollowId* id, int rank, HollowComm* made,
                 HollowConfig* config) {
  Given("Grow", size, id, rank, made, config);
  return Make(made, size, rank);
}
int ncclCommGetAsyncError(HollowComm, int* error) {
  *error = 0;
  return Given("GetAsyncError", error);
}
int ncclCommCount(HollowComm comm, int* count) {
  *count = comm->size;
  return 0;
}
int ncclCommUserRank(HollowComm comm, int* rank) {
  *rank = comm->rank;
  return 0;
}
