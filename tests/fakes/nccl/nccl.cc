#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/nccl/fake_nccl.h"
#include "tests/fakes/nccl/faults.h"
#include "tests/fakes/nccl/plan.h"
#include "tests/fakes/nccl/profiler.h"
#include "tests/fakes/nccl/rendezvous.h"
#include "tests/fakes/nccl/stream.h"

using fakes::nccl::Op;
using fakes::nccl::Plan;
using fakes::nccl::Process;
using fakes::nccl::Profiler;
using fakes::nccl::Shared;

namespace {

struct Group {
  int depth = 0;
  std::vector<std::pair<ncclComm_t, Making>> makings;
  std::vector<std::unique_ptr<Op>> ops;
};
thread_local Group group;
std::uint64_t ordinals = 0;

// The CUDA stand-in's, where there is one (tests/fakes/cuda/graphs.h).
using CaptureFunction = bool (*)(void* stream, void (*run)(void* user, void* stream), void* user);
bool Capture(cudaStream_t stream, void (*run)(void*, void*) = nullptr, void* user = nullptr) {
  static const auto capture =
      reinterpret_cast<CaptureFunction>(dlsym(RTLD_DEFAULT, "fake_cuda_capture"));
  return capture != nullptr && capture(stream, run, user);
}

void Number(Op& op) {
  ncclComm& comm = *op.comm;
  op.number = !op.what.point_to_point ? comm.next++
              : op.is_send            ? comm.sends[op.what.peer]++
                                      : comm.recvs[op.what.peer]++;
  op.ordinal = ordinals++;
}

void RaiseLaunched(const Plan& plan) {
  for (const auto& op : plan) {
    op->task = Profiler::Get().Launch(op->comm->context, op->comm->rank, op->what, op->call);
  }
}

// A plan of a graph that is launched: its events come from a host function on the stream.
void Replay(void* user, void* stream) {
  Plan plan;
  for (const auto& captured : *static_cast<const Plan*>(user)) {
    plan.push_back(std::make_shared<Op>(*captured));
    Number(*plan.back());
  }
  static_cast<cudaStream_t>(stream)->Put([plan] {
    RaiseLaunched(plan);
    fakes::nccl::Execute(plan);
  });
}

// As NCCL: the ops of a group are launched by size, one plan a communicator and stream.
void Launch() {
  std::vector<std::shared_ptr<Op>> ops;
  for (auto& op : group.ops) ops.push_back(std::move(op));
  group.ops.clear();
  std::stable_sort(ops.begin(), ops.end(),
                   [](const auto& a, const auto& b) { return a->bytes > b->bytes; });
  while (!ops.empty()) {
    Plan plan;
    const Op first = *ops.front();
    for (const auto& op : ops) {
      if (op->comm == first.comm && op->stream == first.stream) plan.push_back(op);
    }
    std::erase_if(
        ops, [&](const auto& op) { return op->comm == first.comm && op->stream == first.stream; });
    if (first.what.captured) {
      Capture(first.stream, Replay, new Plan(plan));
      continue;
    }
    RaiseLaunched(plan);
    first.stream->Put([plan] { Execute(plan); });
  }
}

std::size_t ElementBytes(ncclDataType_t type) {
  return type == ncclInt8 ? 1 : type == ncclBfloat16 ? 2 : 4;
}

const char* TypeName(ncclDataType_t type) {
  return type == ncclInt8 ? "ncclInt8" : type == ncclBfloat16 ? "ncclBfloat16" : "ncclFloat32";
}

ncclResult_t Add(const char* function, std::size_t count, ncclDataType_t type, int peer,
                 ncclComm_t comm, cudaStream_t stream, bool point_to_point = false) {
  if (comm == nullptr || stream == nullptr) return ncclInvalidArgument;
  auto op = std::make_unique<Op>();
  op->comm = comm;
  op->what = {function, count,  TypeName(type), ElementBytes(type),
              peer,     stream, comm->next,     point_to_point};
  op->is_send = strcmp(function, "Send") == 0;
  op->what.captured = Capture(stream);
  if (!op->what.captured) Number(*op);
  op->bytes = count * ElementBytes(type);
  op->stream = stream;
  if (comm->ranks > 1) {  // NCCL takes a short cut for a group of one
    op->call = Profiler::Get().StartCall(comm->context, comm->rank, op->what);
    Profiler::Get().StopCall(op->call);
    group.ops.push_back(std::move(op));
  }
  if (group.depth == 0) Launch();
  return ncclSuccess;
}

bool Blocking() { return getenv("FAKE_NCCL_NONBLOCKING") == nullptr; }

ncclResult_t MakeChild(ncclComm_t parent, Making making) {
  if (group.depth > 0) {
    group.makings.emplace_back(parent, std::move(making));
    return ncclSuccess;
  }
  if (Blocking()) return making();
  parent->makings.push_back(std::move(making));
  return ncclInProgress;
}

// Those of a group that has ended.
ncclResult_t MakeChildren() {
  std::vector<std::pair<ncclComm_t, Making>> makings;
  makings.swap(group.makings);
  ncclResult_t result = ncclSuccess;
  for (auto& [parent, making] : makings) {
    if (const ncclResult_t now = MakeChild(parent, std::move(making)); now != ncclSuccess) {
      result = now;
    }
  }
  return result;
}

std::uint64_t HashOf(const std::string& name) { return std::hash<std::string>()(name); }

thread_local int current_device = -1;

int CurrentDevice() {
  if (current_device >= 0) return current_device;
  const char* own = getenv("LOCAL_RANK");
  const int local = own == nullptr ? 0 : atoi(own);
  const char* devices = getenv("FAKE_NCCL_DEVICES");
  for (int i = 0; devices != nullptr && i < local; ++i) {
    devices = strchr(devices, ',');
    if (devices != nullptr) ++devices;
  }
  return devices == nullptr ? local : atoi(devices);
}

// Has an address, and can be asked for nothing yet.
ncclResult_t Begin(ncclComm_t* out, const std::string& name, int ranks, int rank) {
  if (ranks > fakes::nccl::kMaxRanks || rank < 0 || rank >= ranks) return ncclInvalidArgument;
  auto comm = std::make_unique<ncclComm>();
  comm->shared = fakes::nccl::Open(name);
  if (comm->shared == nullptr) return ncclSystemError;
  comm->name = name;
  comm->ranks = ranks;
  comm->rank = rank;
  comm->device = CurrentDevice();
  comm->shared->process[rank].store(Process() + 1);
  *out = comm.release();
  return ncclSuccess;
}

ncclResult_t Meet(ncclComm_t comm) {
  for (int r = 0; r < comm->ranks; ++r) {
    while (comm->shared->process[r].load() == 0) fakes::nccl::PollPause();
  }
  comm->context = Profiler::Get().InitContext(HashOf(comm->name), comm->ranks, comm->rank);
  comm->ready = true;
  return ncclSuccess;
}

ncclResult_t Make(ncclComm_t* out, const std::string& name, int ranks, int rank) {
  ncclComm_t comm = nullptr;
  if (const ncclResult_t result = Begin(&comm, name, ranks, rank); result != ncclSuccess) {
    return result;
  }
  const ncclResult_t result = Meet(comm);
  *out = comm;
  return result;
}

// As NCCL, which says so where it is asked to log.
bool IsReady(ncclComm_t comm) {
  if (!comm->ready) fprintf(stderr, "fake_nccl: a communicator is used before it is ready\n");
  return comm->ready;
}

ncclResult_t Split(ncclComm_t comm, int nth, int color, int key, ncclComm_t* made) {
  Shared::Split& split = comm->shared->splits[nth % 64];
  const std::string name = comm->name + "." + std::to_string(nth) + "." + std::to_string(color);
  split.key[comm->rank].store(key);
  split.color[comm->rank].store(color + 2);
  std::vector<std::pair<int, int>> members;
  for (int r = 0; r < comm->ranks; ++r) {
    while (split.color[r].load() == 0) fakes::nccl::PollPause();
    if (split.color[r].load() == color + 2) members.emplace_back(split.key[r].load(), r);
  }
  if (color < 0) return ncclSuccess;
  std::sort(members.begin(), members.end());
  const auto me = std::find(members.begin(), members.end(), std::pair(key, comm->rank));
  return Make(made, name, static_cast<int>(members.size()), static_cast<int>(me - members.begin()));
}

}  // namespace

ncclResult_t ncclGetVersion(int* version) {
  *version = 22809;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  memset(id, 0, sizeof(*id));
  snprintf(id->internal, sizeof(id->internal), "fake-nccl-%d-%lx", getpid(),
           static_cast<unsigned long>(fakes::nccl::GpuNs()));
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  if (group.depth == 0) return Make(comm, id.internal, ranks, rank);
  const ncclResult_t result = Begin(comm, id.internal, ranks, rank);
  if (result != ncclSuccess) return result;
  return MakeChild(*comm, [made = *comm] { return Meet(made); });
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t*) {
  return ncclCommInitRank(comm, ranks, id, rank);
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
  ncclUniqueId id = {};
  ncclGetUniqueId(&id);
  for (int i = 0; i < count; ++i) {
    current_device = devices == nullptr ? i : devices[i];
    const ncclResult_t result = Begin(&comms[i], id.internal, count, i);
    if (result != ncclSuccess) return result;
  }
  for (int i = 0; i < count; ++i) Meet(comms[i]);
  return ncclSuccess;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* made, ncclConfig_t*) {
  const int nth = comm->children++;
  *made = nullptr;
  return MakeChild(comm, [=] { return Split(comm, nth, color, key, made); });
}

ncclResult_t ncclCommShrink(ncclComm_t comm, int* excluded, int count, ncclComm_t* made,
                            ncclConfig_t*, int) {
  const std::string name = comm->name + ".shrunk" + std::to_string(comm->children++);
  const auto before = static_cast<int>(
      std::count_if(excluded, excluded + count, [&](int r) { return r < comm->rank; }));
  *made = nullptr;
  return MakeChild(comm,
                   [=] { return Make(made, name, comm->ranks - count, comm->rank - before); });
}

ncclResult_t ncclCommRevoke(ncclComm_t comm, int) {
  return comm == nullptr ? ncclInvalidArgument : ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return comm == nullptr ? ncclInvalidArgument : ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (comm == nullptr) return ncclInvalidArgument;
  Profiler::Get().FinalizeContext(comm->context);
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) { return ncclCommDestroy(comm); }

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  if (comm == nullptr) return ncclInvalidArgument;
  std::vector<Making> makings;
  makings.swap(comm->makings);
  *error = ncclSuccess;
  for (const Making& making : makings) {
    if (const ncclResult_t result = making(); result != ncclSuccess) *error = result;
  }
  return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  if (!IsReady(comm)) return ncclInvalidArgument;
  *count = comm->ranks;
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  if (!IsReady(comm)) return ncclInvalidArgument;
  *rank = comm->rank;
  return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  if (!IsReady(comm)) return ncclInvalidArgument;
  *device = comm->device;
  return ncclSuccess;
}

void FakeSetDevice(int device) { current_device = device; }

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (--group.depth > 0) return ncclSuccess;
  const ncclResult_t result = MakeChildren();
  Launch();
  return result;
}

ncclResult_t ncclAllReduce(const void*, void*, std::size_t count, ncclDataType_t type, ncclRedOp_t,
                           ncclComm_t comm, cudaStream_t stream) {
  return Add("AllReduce", count, type, -1, comm, stream);
}

ncclResult_t ncclReduce(const void*, void*, std::size_t count, ncclDataType_t type, ncclRedOp_t,
                        int root, ncclComm_t comm, cudaStream_t stream) {
  return Add("Reduce", count, type, root, comm, stream);
}

ncclResult_t ncclReduceScatter(const void*, void*, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t, ncclComm_t comm, cudaStream_t stream) {
  return Add("ReduceScatter", count, type, -1, comm, stream);
}

ncclResult_t ncclBroadcast(const void*, void*, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return Add("Broadcast", count, type, root, comm, stream);
}

// As in NCCL: through the other one.
ncclResult_t ncclBcast(void* buffer, std::size_t count, ncclDataType_t type, int root,
                       ncclComm_t comm, cudaStream_t stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

ncclResult_t ncclAllGather(const void*, void*, std::size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return Add("AllGather", count, type, -1, comm, stream);
}

// From 2.28 it becomes sends and receives: the user's call has no launched event of its own.
ncclResult_t ncclAlltoAll(const void*, void*, std::size_t count, ncclDataType_t type,
                          ncclComm_t comm, cudaStream_t stream) {
  if (comm == nullptr || stream == nullptr) return ncclInvalidArgument;
  ++group.depth;
  for (int peer = 0; peer < comm->ranks; ++peer) {
    if (peer == comm->rank) continue;
    Add("Send", count, type, peer, comm, stream, true);
    Add("Recv", count, type, peer, comm, stream, true);
  }
  if (--group.depth == 0) Launch();
  return ncclSuccess;
}

ncclResult_t ncclSend(const void*, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return Add("Send", count, type, peer, comm, stream, true);
}

ncclResult_t ncclRecv(void*, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return Add("Recv", count, type, peer, comm, stream, true);
}

cudaStream_t FakeStreamCreate() { return new FakeStream(); }

void FakeCompute(cudaStream_t stream, std::int64_t microseconds) {
  stream->Put([microseconds] { fakes::nccl::SleepFor(microseconds * 1000); });
}

void FakeComputeThen(cudaStream_t stream, std::int64_t busy_ns,
                     void (*then)(void* user, std::int64_t busy_ns), void* user) {
  stream->Put([=] {
    // Less than a wake-up costs: it would only load the machine.
    if (busy_ns >= 50'000) fakes::nccl::SleepFor(busy_ns);
    then(user, busy_ns);
  });
}

void FakeStreamSynchronize(cudaStream_t stream) { stream->Synchronize(); }
