#include "daemon/tracer/interpose/cuda/current_device.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "daemon/tracer/interpose/loader.h"

namespace fathom::tracer::cuda {
namespace {

using DeviceOfNumber = int (*)(int* device, int number);
using BusIdOf = int (*)(char* bus_id, int bytes, int device);
using CurrentDevice = int (*)(int* device);

// The driver, where it is in the process already.
class Driver {
 public:
  Driver() : handle_(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)) { dlerror(); }
  ~Driver() {
    if (handle_ != nullptr) dlclose(handle_);
    dlerror();
    errno = saved_;
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  template <typename Function>
  Function Find(const char* name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Function>(LookUp(handle_, name));
  }

 private:
  const int saved_ = errno;
  void* const handle_;
};

void Tell(const Driver& driver, int number, abi::GroupSlot* slot) {
  const auto device_of = driver.Find<DeviceOfNumber>("cuDeviceGet");
  const auto bus_id_of = driver.Find<BusIdOf>("cuDeviceGetPCIBusId");
  char bus_id[abi::kBusIdBytes] = {};
  int device = 0;
  const bool told = device_of != nullptr && bus_id_of != nullptr &&
                    device_of(&device, number) == 0 &&
                    bus_id_of(bus_id, sizeof(bus_id), device) == 0;
  if (told) memcpy(slot->bus_id, bus_id, sizeof(bus_id));
  slot->device.store(static_cast<std::uint32_t>(number) + 1, std::memory_order_release);
}

}  // namespace

void TellDevice(int number, abi::GroupSlot* slot) { Tell(Driver(), number, slot); }

// A device's handle is its number: so the driver has it since there are several.
void TellCurrentDevice(abi::GroupSlot* slot) {
  const Driver driver;
  const auto current = driver.Find<CurrentDevice>("cuCtxGetDevice");
  int number = -1;
  if (current == nullptr || current(&number) != 0 || number < 0) return;
  Tell(driver, number, slot);
}

}  // namespace fathom::tracer::cuda
