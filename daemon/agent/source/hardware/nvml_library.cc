#include "daemon/agent/source/hardware/nvml_library.h"

#include <dlfcn.h>

#include <initializer_list>

#include "absl/strings/str_cat.h"

namespace fathom::agent::nvml {
namespace {

// The first of the names that the library has.
template <typename Function>
void Find(void* library, Function& function, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (function == nullptr) function = reinterpret_cast<Function>(dlsym(library, name));
  }
}

void FindDevices(void* from, Library& to) {
  Find(from, to.Init, {"nvmlInit_v2"});
  Find(from, to.ErrorString, {"nvmlErrorString"});
  Find(from, to.DeviceGetCount, {"nvmlDeviceGetCount_v2"});
  Find(from, to.DeviceGetHandleByIndex, {"nvmlDeviceGetHandleByIndex_v2"});
  Find(from, to.DeviceGetPciInfo, {"nvmlDeviceGetPciInfo_v3"});
  Find(from, to.DeviceGetComputeRunningProcesses, {"nvmlDeviceGetComputeRunningProcesses_v3"});
  Find(from, to.EventSetCreate, {"nvmlEventSetCreate"});
  Find(from, to.DeviceRegisterEvents, {"nvmlDeviceRegisterEvents"});
  Find(from, to.EventSetWait, {"nvmlEventSetWait_v2"});
}

void FindReadings(void* from, Library& to) {
  Find(from, to.DeviceGetClockInfo, {"nvmlDeviceGetClockInfo"});
  Find(from, to.DeviceGetMaxClockInfo, {"nvmlDeviceGetMaxClockInfo"});
  Find(from, to.DeviceGetClockReasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  Find(from, to.DeviceGetTemperature, {"nvmlDeviceGetTemperature"});
  Find(from, to.DeviceGetPowerUsage, {"nvmlDeviceGetPowerUsage"});
  Find(from, to.DeviceGetEnforcedPowerLimit, {"nvmlDeviceGetEnforcedPowerLimit"});
  Find(from, to.DeviceGetTotalEccErrors, {"nvmlDeviceGetTotalEccErrors"});
  Find(from, to.DeviceGetRemappedRows, {"nvmlDeviceGetRemappedRows"});
  Find(from, to.DeviceGetCurrPcieLinkWidth, {"nvmlDeviceGetCurrPcieLinkWidth"});
  Find(from, to.DeviceGetMaxPcieLinkWidth, {"nvmlDeviceGetMaxPcieLinkWidth"});
  Find(from, to.DeviceGetCurrPcieLinkGeneration, {"nvmlDeviceGetCurrPcieLinkGeneration"});
  Find(from, to.DeviceGetMaxPcieLinkGeneration, {"nvmlDeviceGetMaxPcieLinkGeneration"});
  Find(from, to.DeviceGetPcieReplayCounter, {"nvmlDeviceGetPcieReplayCounter"});
  Find(from, to.DeviceGetNvLinkState, {"nvmlDeviceGetNvLinkState"});
  Find(from, to.DeviceGetNvLinkErrorCounter, {"nvmlDeviceGetNvLinkErrorCounter"});
}

}  // namespace

absl::StatusOr<Library> Load(const std::string& file) {
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return absl::NotFoundError(absl::StrCat(file, " is not there"));
  Library library{};
  FindDevices(handle, library);
  FindReadings(handle, library);
  const bool whole = library.Init != nullptr && library.DeviceGetCount != nullptr &&
                     library.DeviceGetHandleByIndex != nullptr &&
                     library.DeviceGetPciInfo != nullptr && library.ErrorString != nullptr;
  if (!whole) return absl::FailedPreconditionError(absl::StrCat(file, " is older than NVML 11"));
  return library;
}

}  // namespace fathom::agent::nvml
