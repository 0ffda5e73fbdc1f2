// libcuda.so.1 without a GPU: as much of the driver as a training loop calls, defined with the
// signatures of the real header.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <iterator>

#include "tests/fakes/cuda/graphs.h"
#include "tests/fakes/cuda/virtual_gpu.h"

#define FAKE extern "C" __attribute__((visibility("default")))

using fake_cuda::Event;
using fake_cuda::Graph;
using fake_cuda::Stream;

namespace {

Stream default_stream;
std::atomic<std::uint64_t> kernels{0};
std::atomic<std::uint64_t> copies{0};

Stream& Of(CUstream stream) {
  return stream == nullptr ? default_stream : *reinterpret_cast<Stream*>(stream);
}
Event& Of(CUevent event) { return *reinterpret_cast<Event*>(event); }

std::atomic<fake_cuda::Observer> observer{nullptr};

std::atomic<const fake_cuda::Executor*> executor{nullptr};

// FAKE_CUDA_SLOW_LAUNCH=RANK:MICROSECONDS:AFTER: from its AFTER-th launch on each takes so much
// longer on the host of that rank.
void DawdleAtLaunch() {
  static int rank = -1, microseconds = 0, after = 0;
  static const bool wanted = [] {
    const char* text = getenv("FAKE_CUDA_SLOW_LAUNCH");
    const char* own = getenv("RANK");
    return text != nullptr && own != nullptr &&
           sscanf(text, "%d:%d:%d", &rank, &microseconds, &after) == 3 && rank == atoi(own);
  }();
  if (!wanted || kernels.load() < static_cast<std::uint64_t>(after)) return;
  const std::int64_t until_ns = fake_cuda::NowNs() + std::int64_t{microseconds} * 1000;
  fake_cuda::SleepUntil(until_ns);
}

}  // namespace

// CUDA_VISIBLE_DEVICES=2,0: the process sees GPU 2 as its device 0. Numbers only.
int fake_cuda::VisibleGpu(int device) {
  const char* visible = getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return device < kGpus ? device : -1;
  for (int i = 0; i < device && visible != nullptr; ++i) {
    visible = strchr(visible, ',');
    if (visible != nullptr) ++visible;
  }
  if (visible == nullptr || *visible < '0' || *visible > '9') return -1;
  return atoi(visible) < kGpus ? atoi(visible) : -1;
}

namespace {

void TellOfKernel(void* kernel, void* stream, std::int64_t start_ns, std::int64_t end_ns) {
  const fake_cuda::Observer tell = observer.load(std::memory_order_acquire);
  if (tell == nullptr) return;
  tell({fake_cuda::Work::kKernel, start_ns, end_ns, stream, static_cast<const char*>(kernel)});
}

// Whether its streams are another simulator's.
bool IsForeign(CUstream stream) {
  return executor.load(std::memory_order_acquire) != nullptr && stream != nullptr;
}

struct Kernel {
  CUfunction function;
  unsigned blocks;
};

void RunKernel(void* user, void* stream) {
  const auto* kernel = static_cast<const Kernel*>(user);
  const double busy_ns = kernel->blocks * 1000.0 * fake_cuda::Throttle();
  executor.load()->run(stream, static_cast<std::int64_t>(busy_ns), kernel->function, TellOfKernel);
}

bool RunElsewhere(CUfunction function, CUstream stream, unsigned blocks) {
  if (!IsForeign(stream)) return false;
  kernels.fetch_add(1, std::memory_order_relaxed);
  DawdleAtLaunch();
  if (fake_cuda_capture(stream, nullptr, nullptr)) {
    return fake_cuda_capture(stream, RunKernel, new Kernel{function, blocks});
  }
  Kernel kernel = {function, blocks};
  RunKernel(&kernel, stream);
  return true;
}

// Returns when the work starts; 0 if it went into a graph.
std::int64_t Start(CUstream stream, unsigned blocks) {
  const std::int64_t busy_ns = std::int64_t{blocks} * 1000;
  Graph* capture = fake_cuda::CaptureOf(stream);
  if (capture == nullptr) return Of(stream).Run(busy_ns);
  ++capture->kernels;
  capture->busy_ns += busy_ns;
  return 0;
}

CUresult Work(CUstream stream, unsigned blocks, fake_cuda::Work::Kind kind) {
  const std::int64_t start_ns = Start(stream, blocks);
  const fake_cuda::Observer tell = observer.load(std::memory_order_acquire);
  if (tell != nullptr && start_ns != 0)
    tell({kind, start_ns, Of(stream).free_ns, stream, "fake_kernel"});
  return CUDA_SUCCESS;
}

CUresult Launch(CUstream stream, unsigned blocks) {
  kernels.fetch_add(1, std::memory_order_relaxed);
  return Work(stream, blocks, fake_cuda::Work::kKernel);
}

CUresult Copy(CUstream stream, bool blocks) {
  copies.fetch_add(1, std::memory_order_relaxed);
  const CUresult result = Work(stream, 1, fake_cuda::Work::kCopy);
  if (blocks) Of(stream).Synchronize();
  return result;
}

}  // namespace

FAKE CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  const int gpu = fake_cuda::VisibleGpu(ordinal);
  if (gpu < 0) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
// Every thread has the context of the first device.
FAKE CUresult cuCtxGetDevice(CUdevice* device) { return cuDeviceGet(device, 0); }
FAKE CUresult cuDeviceGetPCIBusId(char* text, int bytes, CUdevice device) {
  const int gpu = fake_cuda::VisibleGpu(device);
  if (gpu < 0) return CUDA_ERROR_INVALID_DEVICE;
  const int wanted = snprintf(text, static_cast<size_t>(bytes), "0000:%02X:00.0", 0x1a + 12 * gpu);
  return wanted < bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// How much the fake was really asked to do, for the victim's own report.
FAKE unsigned long long fake_cuda_kernels() { return kernels.load(); }
FAKE unsigned long long fake_cuda_copies() { return copies.load(); }

FAKE void fake_cuda_observe(fake_cuda::Observer tell) { observer.store(tell); }

FAKE void fake_cuda_execute_by(const fake_cuda::Executor* other) { executor.store(other); }

FAKE CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
FAKE CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}
FAKE CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned, unsigned, unsigned,
                             unsigned, unsigned, unsigned, CUstream stream, void**, void**) {
  if (x != 0 && RunElsewhere(function, stream, x)) return CUDA_SUCCESS;
  return x == 0 ? CUDA_ERROR_INVALID_VALUE : Launch(stream, x);
}
FAKE CUresult cuLaunchKernel_ptsz(CUfunction, unsigned x, unsigned, unsigned, unsigned, unsigned,
                                  unsigned, unsigned, CUstream stream, void**, void**) {
  return Launch(stream, x);
}
FAKE CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction, void**, void**) {
  return Launch(config->hStream, config->gridDimX);
}
FAKE CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void*, size_t, CUstream stream) {
  return Copy(stream, false);
}
FAKE CUresult cuMemcpyDtoH_v2(void*, CUdeviceptr, size_t) { return Copy(nullptr, true); }
// The first version took 32-bit addresses and sizes: it must never be mistaken for the second.
#undef cuMemcpyDtoH
FAKE CUresult cuMemcpyDtoH(void*, unsigned, unsigned bytes) {
  return bytes == 0x51515151u ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
FAKE CUresult cuMemsetD8Async(CUdeviceptr, unsigned char, size_t, CUstream stream) {
  return Work(stream, 1, fake_cuda::Work::kMemset);
}
FAKE CUresult cuStreamCreate(CUstream* stream, unsigned) {
  *stream = reinterpret_cast<CUstream>(new Stream);
  return CUDA_SUCCESS;
}
FAKE CUresult cuStreamSynchronize(CUstream stream) {
  const fake_cuda::Executor* other = executor.load(std::memory_order_acquire);
  if (other != nullptr && stream != nullptr) return other->synchronize(stream), CUDA_SUCCESS;
  if (fake_cuda::CaptureOf(stream) != nullptr) {
    Of(stream).spoilt = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  const std::int64_t start_ns = fake_cuda::NowNs();
  Of(stream).Synchronize();
  const fake_cuda::Observer tell = observer.load(std::memory_order_acquire);
  if (tell != nullptr)
    tell({fake_cuda::Work::kSync, start_ns, fake_cuda::NowNs(), stream, nullptr});
  return CUDA_SUCCESS;
}
#undef cuCtxSynchronize
FAKE CUresult cuCtxSynchronize() {
  default_stream.Synchronize();
  return CUDA_SUCCESS;
}
FAKE CUresult cuEventCreate(CUevent* event, unsigned) {
  *event = reinterpret_cast<CUevent>(new Event);
  return CUDA_SUCCESS;
}
FAKE CUresult cuEventRecord(CUevent event, CUstream stream) {
  if (IsForeign(stream)) return executor.load()->record(stream, event), CUDA_SUCCESS;
  Of(event).over_ns = std::max(Of(stream).free_ns, fake_cuda::NowNs());
  return CUDA_SUCCESS;
}
FAKE CUresult cuEventSynchronize(CUevent event) {
  fake_cuda::SleepUntil(Of(event).over_ns);
  return CUDA_SUCCESS;
}
FAKE CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  if (IsForeign(stream)) return executor.load()->wait(stream, event), CUDA_SUCCESS;
  Of(stream).Wait(Of(event));
  return CUDA_SUCCESS;
}
FAKE CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode) {
  fake_cuda::BeginCapture(stream);
  return CUDA_SUCCESS;
}
FAKE CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  Graph* captured = fake_cuda::EndCapture(stream);
  const bool spoilt = !IsForeign(stream) && Of(stream).spoilt;
  *graph = spoilt ? nullptr : reinterpret_cast<CUgraph>(captured);
  if (spoilt) Of(stream).spoilt = false;
  return spoilt ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}
#undef cuStreamGetCaptureInfo_v2
FAKE CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status,
                                        cuuint64_t* id, CUgraph*, const CUgraphNode**, size_t*) {
  *id = fake_cuda::CaptureId(stream);
  *status = *id == 0 ? CU_STREAM_CAPTURE_STATUS_NONE : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}
FAKE CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  *exec = reinterpret_cast<CUgraphExec>(new Graph(*reinterpret_cast<Graph*>(graph)));
  return CUDA_SUCCESS;
}
#undef cuGraphExecUpdate
FAKE CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo*) {
  *reinterpret_cast<Graph*>(exec) = *reinterpret_cast<Graph*>(graph);
  return CUDA_SUCCESS;
}
FAKE CUresult cuGraphDestroy(CUgraph graph) {
  delete reinterpret_cast<Graph*>(graph);
  return CUDA_SUCCESS;
}
FAKE CUresult cuGraphExecDestroy(CUgraphExec exec) {
  delete reinterpret_cast<Graph*>(exec);
  return CUDA_SUCCESS;
}
FAKE CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  const Graph& graph = *reinterpret_cast<Graph*>(exec);
  for (const fake_cuda::Node& node : graph.nodes) node.run(node.user, stream);
  if (!IsForeign(stream)) Of(stream).Run(graph.busy_ns);
  return CUDA_SUCCESS;
}

namespace {

// Which function a name means from which version on, as the driver's own table would say.
struct Entry {
  const char* name;
  int since;
  bool per_thread;
  void* function;
};
#define ENTRY(name, since, per_thread, symbol) \
  { name, since, per_thread, reinterpret_cast<void*>(&symbol) }

CUresult Find(const char* name, void** function, int version, cuuint64_t flags);

// A signature that no hook knows: what a later driver might bring.
CUresult LaunchOfTheFuture(CUfunction, int) { return CUDA_ERROR_NOT_SUPPORTED; }

}  // namespace

#undef cuGetProcAddress
FAKE CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags) {
  return Find(name, function, version, flags);
}
FAKE CUresult cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult* status) {
  const CUresult result = Find(name, function, version, flags);
  if (status != nullptr) {
    *status =
        result == CUDA_SUCCESS ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return result;
}

namespace {

const Entry kEntries[] = {
    ENTRY("cuInit", 2000, false, cuInit),
    ENTRY("cuDriverGetVersion", 2020, false, cuDriverGetVersion),
    ENTRY("cuDeviceGet", 2000, false, cuDeviceGet),
    ENTRY("cuDeviceGetPCIBusId", 4010, false, cuDeviceGetPCIBusId),
    ENTRY("cuLaunchKernel", 4000, false, cuLaunchKernel),
    ENTRY("cuLaunchKernel", 7000, true, cuLaunchKernel_ptsz),
    ENTRY("cuLaunchKernel", 99000, false, LaunchOfTheFuture),
    ENTRY("cuLaunchKernelEx", 11060, false, cuLaunchKernelEx),
    ENTRY("cuMemcpyHtoDAsync", 3020, false, cuMemcpyHtoDAsync_v2),
    ENTRY("cuMemcpyDtoH", 2000, false, cuMemcpyDtoH),
    ENTRY("cuMemcpyDtoH", 3020, false, cuMemcpyDtoH_v2),
    ENTRY("cuMemsetD8Async", 3020, false, cuMemsetD8Async),
    ENTRY("cuStreamCreate", 2000, false, cuStreamCreate),
    ENTRY("cuStreamSynchronize", 2000, false, cuStreamSynchronize),
    ENTRY("cuCtxSynchronize", 2000, false, cuCtxSynchronize),
    ENTRY("cuEventCreate", 2000, false, cuEventCreate),
    ENTRY("cuEventRecord", 2000, false, cuEventRecord),
    ENTRY("cuEventSynchronize", 2000, false, cuEventSynchronize),
    ENTRY("cuStreamWaitEvent", 3020, false, cuStreamWaitEvent),
    ENTRY("cuStreamBeginCapture", 10010, false, cuStreamBeginCapture_v2),
    ENTRY("cuStreamEndCapture", 10000, false, cuStreamEndCapture),
    ENTRY("cuGraphInstantiateWithFlags", 11040, false, cuGraphInstantiateWithFlags),
    ENTRY("cuGraphLaunch", 10000, false, cuGraphLaunch),
    ENTRY("cuGraphDestroy", 10000, false, cuGraphDestroy),
    ENTRY("cuGraphExecDestroy", 10000, false, cuGraphExecDestroy),
    ENTRY("cuGraphExecUpdate", 12000, false, cuGraphExecUpdate_v2),
    ENTRY("cuGetProcAddress", 11030, false, cuGetProcAddress),
    ENTRY("cuGetProcAddress", 12000, false, cuGetProcAddress_v2),
};

// The newest function of that name that `version` may see.
CUresult Find(const char* name, void** function, int version, cuuint64_t flags) {
  const bool per_thread = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  *function = nullptr;
  for (const Entry& entry : kEntries) {
    const bool fits = entry.since <= version && (!entry.per_thread || per_thread);
    if (fits && strcmp(entry.name, name) == 0) *function = entry.function;
  }
  return *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

}  // namespace
