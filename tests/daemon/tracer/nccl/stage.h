// A libnccl.so that does nothing: each call runs what the test wants to happen inside of it.
//
// Used by plugin_victim.cc; a library of its own, because the hooks of libfathom.so look for the
// real functions behind themselves. Types are those of the C ABI.
// Thread-safety: what stage_inside sets is for the calling thread's next call alone.
// Environment: STAGE_NCCL_VERSION  what ncclGetVersion says (default 22809)
#ifndef FATHOM_TESTS_DAEMON_TRACER_NCCL_STAGE_H_
#define FATHOM_TESTS_DAEMON_TRACER_NCCL_STAGE_H_

#include <cstddef>

extern "C" {

struct StageComm {
  int ranks, rank;
  void* context;
};
struct StageId {
  char bytes[128];
};

// The next call that moves data, ends a group or ends a communicator runs `then`.
void stage_inside(void (*then)(void* user), void* user);
// What calls that move data answer from now on.
void stage_answer(int result);
// Whoever asks for the version runs `look`.
void stage_at_version(void (*look)());
// What makes the context of a communicator, inside of the call that makes it.
void stage_make_contexts(void* (*make)(int ranks, int rank));

int ncclCommInitRank(StageComm** comm, int ranks, StageId id, int rank);
int ncclCommDestroy(StageComm* comm);
int ncclCommAbort(StageComm* comm);
int ncclGroupStart();
int ncclGroupEnd();
int ncclAllReduce(const void*, void*, std::size_t count, int type, int op, StageComm*, void*);
int ncclReduce(const void*, void*, std::size_t count, int type, int op, int root, StageComm*,
               void*);
int ncclReduceScatter(const void*, void*, std::size_t count, int type, int op, StageComm*, void*);
int ncclBroadcast(const void*, void*, std::size_t count, int type, int root, StageComm*, void*);
int ncclAllGather(const void*, void*, std::size_t count, int type, StageComm*, void*);
int ncclAlltoAll(const void*, void*, std::size_t count, int type, StageComm*, void*);
int ncclGather(const void*, void*, std::size_t count, int type, int root, StageComm*, void*);
int ncclScatter(const void*, void*, std::size_t count, int type, int root, StageComm*, void*);
int ncclSend(const void*, std::size_t count, int type, int peer, StageComm*, void*);
int ncclRecv(void*, std::size_t count, int type, int peer, StageComm*, void*);

}  // extern "C"

#endif  // FATHOM_TESTS_DAEMON_TRACER_NCCL_STAGE_H_
