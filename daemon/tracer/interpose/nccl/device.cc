#include "daemon/tracer/interpose/nccl/device.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "daemon/tracer/interpose/loader.h"
#include "daemon/tracer/interpose/real_symbol.h"

namespace fathom::tracer::nccl {
namespace {

using CommDevice = int (*)(Comm comm, int* device);
using DeviceOfNumber = int (*)(int* device, int number);
using BusIdOf = int (*)(char* bus_id, int bytes, int device);

bool ReadBusId(int number, char (&bus_id)[abi::kBusIdBytes]) {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  dlerror();
  if (driver == nullptr) return false;
  const auto device_of = reinterpret_cast<DeviceOfNumber>(LookUp(driver, "cuDeviceGet"));
  const auto bus_id_of = reinterpret_cast<BusIdOf>(LookUp(driver, "cuDeviceGetPCIBusId"));
  int device = 0;
  const bool told = device_of != nullptr && bus_id_of != nullptr &&
                    device_of(&device, number) == 0 &&
                    bus_id_of(bus_id, sizeof(bus_id), device) == 0;
  dlclose(driver);
  dlerror();
  return told;
}

}  // namespace

bool TellDevice(Comm comm, void* library, abi::GroupSlot* slot) {
  const int saved = errno;
  const auto ask = reinterpret_cast<CommDevice>(
      FindForCaller("ncclCommCuDevice", library, FirstScope::kCallers));
  int number = -1;
  const bool told = ask != nullptr && ask(comm, &number) == kSuccess && number >= 0;
  if (told) {
    char bus_id[abi::kBusIdBytes] = {};
    if (ReadBusId(number, bus_id)) memcpy(slot->bus_id, bus_id, sizeof(bus_id));
    slot->device.store(static_cast<std::uint32_t>(number) + 1, std::memory_order_release);
  }
  errno = saved;
  return told;
}

}  // namespace fathom::tracer::nccl
