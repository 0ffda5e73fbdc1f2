// libcudart.so.12 and libcudart.so.13 without a GPU: a thin runtime over whatever libcuda.so.1 the
// process finds, which it asks for its functions as the real one does (dlsym of
// cuGetProcAddress_v2, then everything through that). Signatures are those of the real header.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <atomic>

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

struct Driver {
  PFN_cuLaunchKernel_v4000 launch;
  PFN_cuLaunchKernelEx_v11060 launch_ex;
  PFN_cuMemcpyHtoDAsync_v3020 copy_async;
  PFN_cuMemcpyDtoH_v3020 copy_back;
  PFN_cuMemsetD8Async_v3020 set_async;
  PFN_cuStreamCreate_v2000 stream_create;
  PFN_cuStreamSynchronize_v2000 stream_synchronize;
  PFN_cuCtxSynchronize_v2000 device_synchronize;
  PFN_cuEventCreate_v2000 event_create;
  PFN_cuEventRecord_v2000 event_record;
  PFN_cuEventSynchronize_v2000 event_synchronize;
  PFN_cuStreamWaitEvent_v3020 stream_wait;
  PFN_cuStreamBeginCapture_v10010 begin_capture;
  PFN_cuStreamEndCapture_v10000 end_capture;
  PFN_cuGraphInstantiateWithFlags_v11040 instantiate;
  PFN_cuGraphLaunch_v10000 graph_launch;
  PFN_cuGraphDestroy_v10000 graph_destroy;
  PFN_cuGraphExecDestroy_v10000 exec_destroy;
  PFN_cuGraphExecUpdate_v12000 exec_update;
};

template <typename Function>
void Get(PFN_cuGetProcAddress_v12000 ask, const char* name, int version, Function* function) {
  void* found = nullptr;
  ask(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, nullptr);
  *function = reinterpret_cast<Function>(found);
}

Driver Load() {
  Driver d = {};
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return d;
  const auto ask =
      reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(library, "cuGetProcAddress_v2"));
  Get(ask, "cuLaunchKernel", 7000, &d.launch);
  Get(ask, "cuLaunchKernelEx", 11060, &d.launch_ex);
  Get(ask, "cuMemcpyHtoDAsync", 7000, &d.copy_async);
  Get(ask, "cuMemcpyDtoH", 7000, &d.copy_back);
  Get(ask, "cuMemsetD8Async", 7000, &d.set_async);
  Get(ask, "cuStreamCreate", 7000, &d.stream_create);
  Get(ask, "cuStreamSynchronize", 7000, &d.stream_synchronize);
  Get(ask, "cuCtxSynchronize", 7000, &d.device_synchronize);
  Get(ask, "cuEventCreate", 7000, &d.event_create);
  Get(ask, "cuEventRecord", 7000, &d.event_record);
  Get(ask, "cuEventSynchronize", 7000, &d.event_synchronize);
  Get(ask, "cuStreamWaitEvent", 7000, &d.stream_wait);
  Get(ask, "cuStreamBeginCapture", 10010, &d.begin_capture);
  Get(ask, "cuStreamEndCapture", 10000, &d.end_capture);
  Get(ask, "cuGraphInstantiateWithFlags", 11040, &d.instantiate);
  Get(ask, "cuGraphLaunch", 10000, &d.graph_launch);
  Get(ask, "cuGraphDestroy", 10000, &d.graph_destroy);
  Get(ask, "cuGraphExecDestroy", 10000, &d.exec_destroy);
  Get(ask, "cuGraphExecUpdate", 12000, &d.exec_update);
  return d;
}

const Driver& Api() {
  static const Driver driver = Load();
  return driver;
}

std::atomic<unsigned long long> launches{0};
cudaError_t As(CUresult result) { return static_cast<cudaError_t>(result); }
CUdeviceptr At(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }

cudaError_t Launch(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                   cudaStream_t stream) {
  launches.fetch_add(1, std::memory_order_relaxed);
  auto* kernel = static_cast<CUfunction>(const_cast<void*>(function));
  return As(Api().launch(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                         static_cast<unsigned>(shared), stream, arguments, nullptr));
}

}  // namespace

// Of this copy of the runtime alone.
FAKE unsigned long long FAKE_CUDART_LAUNCHES() { return launches.load(); }

FAKE cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                  size_t shared, cudaStream_t stream) {
  return Launch(function, grid, block, arguments, shared, stream);
}
FAKE cudaError_t __cudaLaunchKernel(cudaKernel_t function, dim3 grid, dim3 block, void** arguments,
                                    size_t shared, cudaStream_t stream) {
  return Launch(function, grid, block, arguments, shared, stream);
}
FAKE cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                     void** arguments) {
  return Launch(function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                config->stream);
}
FAKE cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                                 cudaStream_t stream) {
  return As(Api().copy_async(At(to), from, bytes, stream));
}
FAKE cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return As(Api().copy_back(to, At(from), bytes));
}
FAKE cudaError_t cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t stream) {
  return As(Api().set_async(At(at), static_cast<unsigned char>(value), bytes, stream));
}
FAKE cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return As(Api().stream_create(stream, 0));
}
FAKE cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return As(Api().stream_synchronize(stream));
}
FAKE cudaError_t cudaDeviceSynchronize() { return As(Api().device_synchronize()); }
FAKE cudaError_t cudaEventCreate(cudaEvent_t* event) { return As(Api().event_create(event, 0)); }
FAKE cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return As(Api().event_record(event, stream));
}
FAKE cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return As(Api().event_synchronize(event));
}
FAKE cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return As(Api().stream_wait(stream, event, flags));
}
FAKE cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return As(Api().begin_capture(stream, static_cast<CUstreamCaptureMode>(mode)));
}
FAKE cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return As(Api().end_capture(stream, graph));
}
FAKE cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                      unsigned long long flags) {
  return As(Api().instantiate(exec, graph, flags));
}
FAKE cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return As(Api().graph_launch(exec, stream));
}
FAKE cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return As(Api().graph_destroy(graph)); }
FAKE cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return As(Api().exec_destroy(exec)); }
FAKE cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                     cudaGraphExecUpdateResultInfo*) {
  return As(Api().exec_update(exec, graph, nullptr));
}
