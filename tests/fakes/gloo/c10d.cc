#include "tests/fakes/gloo/c10d.h"

#include <unistd.h>

#include <atomic>
#include <new>

namespace c10d {
namespace {

// As in PyTorch, every kind of op derives its own work.
class AsyncAllreduceWork : public ProcessGroupGloo::AsyncWork {
 public:
  AsyncAllreduceWork(OpType type, std::uint64_t tag)
      : AsyncWork(nullptr, {}, type, tag, std::chrono::milliseconds(0), "gloo:all_reduce", {}) {}
};

// Works live in a pool, so that making one does not allocate; addresses come back like the heap's,
// but not before a test's threads are done with them.
constexpr std::uint32_t kWorks = 8192;
alignas(64) unsigned char works[kWorks][sizeof(AsyncAllreduceWork)];
std::atomic<std::uint32_t> next_work{0};

c10::intrusive_ptr<Work> MakeWork(OpType type, std::uint64_t tag) {
  void* at = works[next_work.fetch_add(1, std::memory_order_relaxed) % kWorks];
  return c10::intrusive_ptr<Work>(new (at) AsyncAllreduceWork(type, tag));
}

}  // namespace

Work::~Work() {}

bool Work::wait(std::chrono::milliseconds timeout) {
  if (timeout.count() == -2) throw 2;  // how a test asks for a wait that fails
  return true;
}

ProcessGroupGloo::AsyncWork::AsyncWork(std::shared_ptr<gloo::Context>,
                                       std::vector<std::vector<at::Tensor>>, OpType, std::uint64_t,
                                       std::chrono::milliseconds, const char*,
                                       const std::optional<std::vector<at::Tensor>>&) {}

void ProcessGroupGloo::AsyncWork::Release() { this->~AsyncWork(); }

void ProcessGroupGloo::AsyncWork::execute(const c10::intrusive_ptr<AsyncWork>& work) {
  try {
    if (work.get()->throws) throw 3;
  } catch (...) {
    work.get()->finishWorkGlooError(std::current_exception());
    return;
  }
  work.get()->finishWorkGloo();
}

void ProcessGroupGloo::AsyncWork::finishWorkGloo() {}
void ProcessGroupGloo::AsyncWork::finishWorkGlooError(const std::exception_ptr&) {}

ProcessGroupGloo::ProcessGroupGloo(const c10::intrusive_ptr<Store>&, int rank, int,
                                   c10::intrusive_ptr<Options>) {
  if (rank < 0) throw 4;
}
ProcessGroupGloo::~ProcessGroupGloo() {}

void ProcessGroupGloo::Misbehave() {
  if (fail_next != 0) {
    const int what = fail_next;
    fail_next = 0;
    throw what;
  }
  if (fork_next != 0) fork_next = fork();
  while (stop_next) pause();
}

c10::intrusive_ptr<Work> ProcessGroupGloo::allreduce(std::vector<at::Tensor>&,
                                                     const AllreduceOptions&) {
  const std::uint32_t tag = nextTag();
  Misbehave();
  return MakeWork(OpType::ALLREDUCE, tag);
}

c10::intrusive_ptr<Work> ProcessGroupGloo::broadcast(std::vector<at::Tensor>&,
                                                     const BroadcastOptions&) {
  const std::uint32_t tag = nextTag();
  Misbehave();
  return MakeWork(OpType::BROADCAST, tag);
}

void ProcessGroupGloo::monitoredBarrier(const BarrierOptions&, bool) { nextTag(); }

std::uint32_t ProcessGroupGloo::nextTag() { return tag_++; }

void Reducer::finalize_backward() {}

}  // namespace c10d

// The stable C interface of PyTorch that the tracer asks for sizes.
extern "C" int aoti_torch_get_numel(const at::Tensor* tensor, std::int64_t* numel) {
  *numel = tensor->data()->numel;
  return 0;
}
extern "C" int aoti_torch_get_dtype(const at::Tensor* tensor, std::int32_t* dtype) {
  *dtype = tensor->data()->dtype;
  return 0;
}
