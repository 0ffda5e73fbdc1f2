#include "tests/daemon/tracer/cuda/job.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <thread>

#define STRING_OF(name) #name
#define NAME_OF(name) STRING_OF(name)

extern "C" cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);
extern "C" unsigned long long FAKE_CUDART_LAUNCHES();

namespace {

const dim3 kBlock(128);
char buffer[64];
cudaStream_t passed_on = nullptr;

void Launch(unsigned microseconds, cudaStream_t stream = nullptr) {
  cudaLaunchKernel(buffer, dim3(microseconds), kBlock, nullptr, 0, stream);
}

void Step() {
  static cudaStream_t stream = nullptr;
  static cudaEvent_t event = nullptr;
  if (stream == nullptr) cudaStreamCreate(&stream);
  if (event == nullptr) cudaEventCreate(&event);
  for (int i = 0; i < 60; ++i) Launch(1, stream);
  for (int i = 0; i < 30; ++i) {
    __cudaLaunchKernel(reinterpret_cast<cudaKernel_t>(buffer), dim3(1), kBlock, nullptr, 0, stream);
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.stream = stream;
  for (int i = 0; i < 10; ++i) cudaLaunchKernelExC(&config, buffer, nullptr);
  Launch(0, stream);  // refused by the driver: no kernel
  for (int i = 0; i < 3; ++i) {
    cudaMemcpyAsync(buffer, buffer, 8, cudaMemcpyHostToDevice, stream);
  }
  for (int i = 0; i < 2; ++i) cudaMemsetAsync(buffer, 0, 8, stream);
  cudaEventRecord(event, stream);
  cudaStreamWaitEvent(nullptr, event, 0);
}

void LaunchMany(int n) {
  for (int i = 0; i < n; ++i) Launch(1);
}

void Capture() {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  for (int i = 0; i < 10; ++i) Launch(100, stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 5; ++i) cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
}

void SpoiltCapture() {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  for (int i = 0; i < 10; ++i) Launch(100, stream);
  cudaStreamSynchronize(stream);  // which a capture does not allow
  cudaStreamEndCapture(stream, &graph);
  for (int i = 0; i < 7; ++i) Launch(1, stream);
}

void BeginCapture() {
  cudaStreamCreate(&passed_on);
  cudaStreamBeginCapture(passed_on, cudaStreamCaptureModeRelaxed);
  for (int i = 0; i < 10; ++i) Launch(100, passed_on);
}

void EndCapture() {
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(passed_on, &graph);
}

// It begins on this thread and ends on another.
void PassedCapture() {
  BeginCapture();
  std::thread(EndCapture).join();
  cudaDeviceSynchronize();
  for (int i = 0; i < 7; ++i) Launch(1);
}

void Waits() {
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  Launch(20'000);
  cudaEventRecord(event, nullptr);
  cudaStreamSynchronize(nullptr);
  cudaEventSynchronize(event);
  cudaDeviceSynchronize();
  cudaMemcpy(buffer, buffer, 8, cudaMemcpyDeviceToHost);
}

void SynchronizeStream() { cudaStreamSynchronize(nullptr); }

void Stall() {
  // One launch of 16 is timed, and whoever sleeps too long finds room for the next ones.
  for (int i = 0; i < 1024 + 300; ++i) Launch(1500);
}

unsigned long long Launches() { return FAKE_CUDART_LAUNCHES(); }

// RTLD_DEFAULT means the caller's scope: this library was loaded with a local one.
bool SeesOwnScope() { return dlsym(RTLD_DEFAULT, NAME_OF(FAKE_CUDART_LAUNCHES)) != nullptr; }

}  // namespace

extern "C" __attribute__((visibility("default")))
const CudaJob cuda_job = {Step,  LaunchMany,        Capture, SpoiltCapture, PassedCapture,
                          Waits, SynchronizeStream, Stall,   Launches,      SeesOwnScope};
