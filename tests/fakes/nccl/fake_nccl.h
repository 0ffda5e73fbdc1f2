// A stand-in for NCCL and for the little of a GPU that it needs: its public calls, plus streams.
//
// Built into libnccl.so.2 (tests/fakes/nccl); called by train.cc, which is linked against it as a
// training program is linked against the real one, and by tests through the preload.
//
// Model: ranks are real processes on one machine that wait for one another in shared memory
// (rendezvous.h). A stream is a thread that carries out what is put on it, in order; "compute" is
// time that passes. Calls return at once. A transfer takes latency + bytes / bandwidth. Where
// NCCL_PROFILER_PLUGIN is STATIC_PLUGIN it calls the newest plugin table of the process, as NCCL
// does (profiler.h).
//
// Environment: RANK names the process for the faults below.
//   FAKE_NCCL_DIR        folder of the shared files (default /dev/shm)
//   FAKE_NCCL_SLOW_LINK  SRC:DST:FACTOR:AFTER  transfers over that link take FACTOR times as long,
//                        from the AFTER-th op of the process on
//   FAKE_NCCL_STUCK      RANK:AFTER  that rank's AFTER-th op never moves on
//   FAKE_NCCL_NET        set: the ranks are on nodes of their own; what a collective exchanges goes
//                        around a ring in steps, which the profiler is told (proxy.h)
//   FAKE_NCCL_STUCK_LINK SRC:DST:AFTER  of the steps over that link only the first ones arrive,
//   from
//                        the AFTER-th op of DST's process on; needs FAKE_NCCL_NET
//   FAKE_NCCL_NONBLOCKING  set: children are made as if blocking were 0
//   FAKE_NCCL_DEVICES    "3,1": the device of each LOCAL_RANK, as its process counts; default: the
//                        same number; FakeSetDevice comes first
//   FAKE_NCCL_LENT       set: the profiler hears of the ring as of another process's (PXN)
//   FAKE_NCCL_PROFILER_VERSION  the newest plugin version it knows (3 to 6; default 6)
//
// Thread-safety: as the real ones. Errors: ncclInvalidArgument for a null communicator or stream.
#ifndef FATHOM_TESTS_FAKES_NCCL_FAKE_NCCL_H_
#define FATHOM_TESTS_FAKES_NCCL_FAKE_NCCL_H_

#include <cstddef>
#include <cstdint>

extern "C" {

struct ncclComm;
using ncclComm_t = ncclComm*;
struct FakeStream;
using cudaStream_t = FakeStream*;
struct ncclUniqueId {
  char internal[128];
};
enum ncclResult_t {
  ncclSuccess = 0,
  ncclSystemError = 2,
  ncclInvalidArgument = 4,
  ncclInProgress = 7
};
enum ncclDataType_t { ncclInt8 = 0, ncclFloat32 = 7, ncclBfloat16 = 9 };
enum ncclRedOp_t { ncclSum = 0, ncclMax = 2 };
struct ncclConfig_t {
  std::size_t size;
  unsigned magic;
  unsigned version;
  int blocking, cgaClusterSize, minCTAs, maxCTAs;
  const char* netName;
  int splitShare, trafficClass;
  const char* commName;
};

ncclResult_t ncclGetVersion(int* version);
ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank);
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config);
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices);
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* made,
                           ncclConfig_t* config);
#define NCCL_SHRINK_ABORT 0x01
ncclResult_t ncclCommShrink(ncclComm_t comm, int* excluded, int count, ncclComm_t* made,
                            ncclConfig_t* config, int flags);
ncclResult_t ncclCommRevoke(ncclComm_t comm, int flags);
ncclResult_t ncclCommFinalize(ncclComm_t comm);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error);
ncclResult_t ncclCommCount(const ncclComm_t comm, int* count);
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank);
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device);
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclAllReduce(const void* send, void* recv, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduce(const void* send, void* recv, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduceScatter(const void* send, void* recv, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclBroadcast(const void* send, void* recv, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclBcast(void* buffer, std::size_t count, ncclDataType_t type, int root,
                       ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclAllGather(const void* send, void* recv, std::size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclAlltoAll(const void* send, void* recv, std::size_t count, ncclDataType_t type,
                          ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclSend(const void* buffer, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclRecv(void* buffer, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream);

// The GPU.
void FakeSetDevice(int device);  // of communicators that this thread makes from now on
cudaStream_t FakeStreamCreate();
void FakeCompute(cudaStream_t stream, std::int64_t microseconds);
// The same, but below 50 µs it does not sleep; calls `then` on the stream's thread when it is over.
void FakeComputeThen(cudaStream_t stream, std::int64_t busy_ns,
                     void (*then)(void* user, std::int64_t busy_ns), void* user);
void FakeStreamSynchronize(cudaStream_t stream);

}  // extern "C"

#endif  // FATHOM_TESTS_FAKES_NCCL_FAKE_NCCL_H_
