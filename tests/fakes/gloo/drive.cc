#include "tests/fakes/gloo/drive.h"

#include "tests/fakes/gloo/c10d.h"

namespace {

using Group = c10d::ProcessGroupGloo;
using AsyncWork = Group::AsyncWork;

// A vector that owns nothing of the heap between calls: one is kept for each thread.
std::vector<at::Tensor>& OneTensor(std::int64_t numel) {
  static thread_local at::FakeTensorData data;
  static thread_local std::vector<at::Tensor> tensors{at::Tensor(&data)};
  data = {numel, 6};  // c10::ScalarType::Float
  return tensors;
}

void* MakeGroup(int rank, int size) {
  try {
    c10::intrusive_ptr<c10d::Store> store;
    return new Group(store, rank, size, c10::intrusive_ptr<Group::Options>());
  } catch (int) {
    return nullptr;
  }
}
void DropGroup(void* group) { delete static_cast<Group*>(group); }

void* Allreduce(void* group, std::int64_t numel) {
  try {
    return static_cast<Group*>(group)->allreduce(OneTensor(numel), {}).release();
  } catch (int what) {
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(what));
  }
}
void* Broadcast(void* group, std::int64_t numel, int root) {
  c10d::BroadcastOptions options;
  options.rootRank = root;
  return static_cast<Group*>(group)->broadcast(OneTensor(numel), options).release();
}
void MonitoredBarrier(void* group) { static_cast<Group*>(group)->monitoredBarrier({}, false); }

void Execute(void* work, bool throws) {
  auto* async = static_cast<AsyncWork*>(static_cast<c10d::Work*>(work));
  async->throws = throws;
  c10::intrusive_ptr<AsyncWork> pointer(async);
  AsyncWork::execute(pointer);
  pointer.release();
}
bool Wait(void* work, bool throws) {
  try {
    return static_cast<c10d::Work*>(work)->wait(std::chrono::milliseconds(throws ? -2 : 0));
  } catch (int) {
    return false;
  }
}
void DropWork(void* work) { static_cast<c10d::Work*>(work)->Release(); }
void FinalizeBackward() { c10d::Reducer().finalize_backward(); }
void FailNext(void* group, int what) { static_cast<Group*>(group)->fail_next = what; }
int ForkNext(void* group, std::int64_t numel) {
  static_cast<Group*>(group)->fork_next = 1;
  Allreduce(group, numel);
  const int pid = static_cast<Group*>(group)->fork_next;
  static_cast<Group*>(group)->fork_next = 0;
  return pid;
}
void StopNext(void* group) { static_cast<Group*>(group)->stop_next = true; }

}  // namespace

const FakeGloo fake_gloo = {MakeGroup,        DropGroup, Allreduce, Broadcast,
                            MonitoredBarrier, Execute,   Wait,      DropWork,
                            FinalizeBackward, FailNext,  ForkNext,  StopNext};
