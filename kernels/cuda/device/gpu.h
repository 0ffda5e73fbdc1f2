// The GPUs of this node, as far as two must be alike to be compared.
//
// Used by cuda/suite/main and cuda/device/run_on_gpus. Units: bytes. Thread-safety: thread-safe.
// Errors: none can be used: the list is empty and `why` says what CUDA's runtime said. Cost: opens
// the driver.
#ifndef FATHOM_KERNELS_CUDA_DEVICE_GPU_H_
#define FATHOM_KERNELS_CUDA_DEVICE_GPU_H_

#include <cstddef>
#include <string>
#include <vector>

namespace fathom::kernels {

struct Gpu {
  int index = 0;  // as CUDA counts those that it may use
  std::string name;
  std::string uuid;  // "GPU-…", as nvidia-smi writes it
  std::string bus;   // "0000:3b:00.0"
  int major = 0;     // compute capability
  int minor = 0;
  int processors = 0;
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0;
  bool ecc = false;
};

std::vector<Gpu> Gpus(std::string& why);

// "driver 13.0, runtime 13.0"; empty where there is no driver.
std::string CudaVersions();

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_DEVICE_GPU_H_
