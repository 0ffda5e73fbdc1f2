#include <cstdio>

#include "kernels/cuda/device/cuda_call.h"
#include "kernels/cuda/device/gpu.h"

namespace fathom::kernels {
namespace {

std::string UuidOf(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char byte[3];
    std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += byte;
  }
  return text;
}

Gpu GpuAt(int index) {
  cudaDeviceProp told{};
  Check(cudaGetDeviceProperties(&told, index), "its properties");
  char bus[32] = "";
  Check(cudaDeviceGetPCIBusId(bus, sizeof bus, index), "its place on the bus");
  return {.index = index,
          .name = told.name,
          .uuid = UuidOf(told.uuid),
          .bus = bus,
          .major = told.major,
          .minor = told.minor,
          .processors = told.multiProcessorCount,
          .memory_bytes = told.totalGlobalMem,
          .l2_bytes = static_cast<std::size_t>(told.l2CacheSize),
          .ecc = told.ECCEnabled != 0};
}

std::string Version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

std::vector<Gpu> Gpus(std::string& why) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    why = cudaGetErrorString(error);
    return {};
  }
  std::vector<Gpu> gpus;
  try {
    for (int i = 0; i < count; ++i) gpus.push_back(GpuAt(i));
  } catch (const CudaError& broken) {
    why = broken.what();
    return {};
  }
  if (gpus.empty()) why = "CUDA counts no GPU";
  return gpus;
}

std::string CudaVersions() {
  int driver = 0;
  int runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) return "";
  cudaRuntimeGetVersion(&runtime);
  return "driver " + Version(driver) + ", runtime " + Version(runtime);
}

}  // namespace fathom::kernels
