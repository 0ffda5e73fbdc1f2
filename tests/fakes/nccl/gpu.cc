#include "tests/fakes/nccl/gpu.h"

#ifdef FAKE_TRAIN_WITH_CUDA

#include <cuda_runtime_api.h>

#include <future>
#include <map>
#include <memory>
#include <utility>

#include "tests/fakes/cuda/virtual_gpu.h"

// Of libnccl.so.2 (fake_nccl.h, which names CUDA's types for itself) and of libcuda.so.1.
extern "C" {
void FakeComputeThen(void* stream, std::int64_t busy_ns,
                     void (*then)(void* user, std::int64_t busy_ns), void* user);
void FakeStreamSynchronize(void* stream);
void fake_cuda_execute_by(const fake_cuda::Executor* other);
}

namespace fakes {
namespace {

struct Kernel {
  void* name;
  void* stream;
  fake_cuda::Executor::Done done;
};

void Over(void* user, std::int64_t busy_ns) {
  const auto* kernel = static_cast<const Kernel*>(user);
  const std::int64_t now_ns = fake_cuda::NowNs();
  kernel->done(kernel->name, kernel->stream, now_ns - busy_ns, now_ns);
  delete kernel;
}

void Run(void* stream, std::int64_t busy_ns, void* name, fake_cuda::Executor::Done done) {
  FakeComputeThen(stream, busy_ns, Over, new Kernel{name, stream, done});
}

// Of one thread: what each event stands for, as it was recorded last.
using Moment = std::shared_ptr<std::promise<void>>;
std::map<void*, std::shared_future<void>> recorded;

void Reach(void* user, std::int64_t) {
  const std::unique_ptr<Moment> moment(static_cast<Moment*>(user));
  (*moment)->set_value();
}

void Await(void* user, std::int64_t) {
  const std::unique_ptr<std::shared_future<void>> moment(
      static_cast<std::shared_future<void>*>(user));
  moment->wait();
}

void Record(void* stream, void* event) {
  auto moment = std::make_shared<std::promise<void>>();
  recorded[event] = moment->get_future().share();
  FakeComputeThen(stream, 0, Reach, new Moment(std::move(moment)));
}

void Wait(void* stream, void* event) {
  FakeComputeThen(stream, 0, Await, new std::shared_future<void>(recorded.at(event)));
}

constexpr fake_cuda::Executor kExecutor = {Run, FakeStreamSynchronize, Record, Wait};

void BeReady() {
  static const bool ready = (fake_cuda_execute_by(&kExecutor), true);
  static_cast<void>(ready);
}

}  // namespace

void Launch(void* stream, const char* name, std::int64_t microseconds) {
  BeReady();
  const dim3 grid = {static_cast<unsigned>(microseconds), 1, 1};
  cudaLaunchKernel(name, grid, {1, 1, 1}, nullptr, 0, static_cast<cudaStream_t>(stream));
}

void Synchronize(void* stream) { cudaStreamSynchronize(static_cast<cudaStream_t>(stream)); }

void WaitFor(void* stream, void* other) {
  static const cudaEvent_t event = [] {
    cudaEvent_t made = nullptr;
    cudaEventCreate(&made);
    return made;
  }();
  BeReady();
  cudaEventRecord(event, static_cast<cudaStream_t>(other));
  cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), event, 0);
}

void BeginGraph(void* stream) {
  cudaStreamBeginCapture(static_cast<cudaStream_t>(stream), cudaStreamCaptureModeGlobal);
}

// As PyTorch does: the graph goes once it is executable.
void* EndGraph(void* stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStreamEndCapture(static_cast<cudaStream_t>(stream), &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  return executable;
}

void LaunchGraph(void* graph, void* stream) {
  cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), static_cast<cudaStream_t>(stream));
}

void DestroyGraph(void* graph) { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph)); }

}  // namespace fakes

#else

#include <stdio.h>
#include <stdlib.h>

#include "tests/fakes/nccl/fake_nccl.h"

namespace fakes {

void Launch(void* stream, const char*, std::int64_t microseconds) {
  FakeCompute(static_cast<cudaStream_t>(stream), microseconds);
}
void Synchronize(void* stream) { FakeStreamSynchronize(static_cast<cudaStream_t>(stream)); }
void WaitFor(void*, void*) {
  fprintf(stderr, "fake_train: built without CUDA's headers: it has no events\n");
  exit(2);
}
void BeginGraph(void*) {
  fprintf(stderr, "fake_train: built without CUDA's headers: it has no graphs\n");
  exit(2);
}
void* EndGraph(void*) { return nullptr; }
void LaunchGraph(void*, void*) {}
void DestroyGraph(void*) {}

}  // namespace fakes

#endif
