// What every CUDA source here uses: errors as exceptions, memory that is freed, times by events.
//
// Included by sources alone. Errors: CudaError, which cuda/device/run_on_gpus turns into an
// outcome. Units: bytes, seconds. Thread-safety: the caller's current device; one thread a device.
#ifndef FATHOM_KERNELS_CUDA_DEVICE_CUDA_CALL_H_
#define FATHOM_KERNELS_CUDA_DEVICE_CUDA_CALL_H_

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace fathom::kernels {

class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const char* what)
      : std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code)), code_(code) {}
  cudaError_t Code() const { return code_; }

 private:
  cudaError_t code_;
};

inline void Check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw CudaError(code, what);
}

inline void CheckLaunch(const char* what) { Check(cudaGetLastError(), what); }

template <typename T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t count) : count_(count) {
    Check(cudaMalloc(&data_, count * sizeof(T)), "memory of the GPU");
  }
  ~DeviceBuffer() { cudaFree(data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  T* Data() const { return data_; }
  std::size_t Count() const { return count_; }
  std::size_t Bytes() const { return count_ * sizeof(T); }
  void Put(const void* from) {
    Check(cudaMemcpy(data_, from, Bytes(), cudaMemcpyHostToDevice), "copy to the GPU");
  }
  void Get(void* to) const {
    Check(cudaMemcpy(to, data_, Bytes(), cudaMemcpyDeviceToHost), "copy from the GPU");
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

// Memory of the host that the GPU reaches by itself.
class PinnedBuffer {
 public:
  explicit PinnedBuffer(std::size_t bytes) : bytes_(bytes) {
    Check(cudaMallocHost(&data_, bytes), "pinned memory");
  }
  ~PinnedBuffer() { cudaFreeHost(data_); }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;

  void* Data() const { return data_; }
  std::size_t Bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

class Stream {
 public:
  Stream() { Check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t Get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// The time that the GPU took for what was put into `stream` between Begin and Seconds.
class EventTimer {
 public:
  explicit EventTimer(cudaStream_t stream) : stream_(stream) {
    Check(cudaEventCreate(&begin_), "an event");
    Check(cudaEventCreate(&end_), "an event");
  }
  ~EventTimer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;

  void Begin() { Check(cudaEventRecord(begin_, stream_), "an event"); }
  double Seconds() {
    Check(cudaEventRecord(end_, stream_), "an event");
    Check(cudaEventSynchronize(end_), "waiting for the GPU");
    float ms = 0;
    Check(cudaEventElapsedTime(&ms, begin_, end_), "the time between two events");
    return 1e-3 * static_cast<double>(ms);
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_DEVICE_CUDA_CALL_H_
