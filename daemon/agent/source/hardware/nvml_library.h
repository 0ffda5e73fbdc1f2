// libnvidia-ml.so.1 of the installed driver, by dlopen, with as much of its interface as is used.
//
// Used by nvml_source. Nothing is linked: a node without the driver has no such library. The types
// are NVML's own, written down here because the agent is built where no CUDA is; a test compares
// them with the real header (tests/daemon/agent/source/hardware/nvml_layout_test).
//
// Model: Load() finds the functions; those that an older driver lacks stay null, and their readings
// are left out. kRequired of them must be there.
//
// Thread-safety: the library's own (NVML is thread-safe). Ownership: the library is never unloaded.
// Errors: NotFound: there is no library; FailedPrecondition: it lacks a required function.
// Cost: dlopen, some ms, once.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_NVML_LIBRARY_H_
#define FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_NVML_LIBRARY_H_

#include <string>

#include "absl/status/statusor.h"

namespace fathom::agent::nvml {

using Device = void*;
using EventSet = void*;
using Result = int;

inline constexpr Result kSuccess = 0;
inline constexpr Result kUninitialized = 1;
inline constexpr Result kNotSupported = 3;
inline constexpr Result kInsufficientSize = 7;
inline constexpr Result kTimeout = 10;
inline constexpr Result kGpuIsLost = 15;
inline constexpr Result kResetRequired = 16;
inline constexpr int kClockSm = 1, kClockMemory = 2;
inline constexpr int kTemperatureGpu = 0;
inline constexpr int kEccCorrected = 0, kEccUncorrected = 1, kEccVolatile = 0;
inline constexpr unsigned long long kEventXid = 8;
inline constexpr unsigned kMostLinks = 18;
inline constexpr int kLinkErrors = 4;  // kinds: replay, recovery, CRC of flits, CRC of data

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];  // "00000000:1B:00.0"
};

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};

struct EventData {
  Device device;
  unsigned long long type, data;  // data: the number of the Xid
  unsigned gpu_instance, compute_instance;
};

// Null where the driver has none of the name.
struct Library {
  Result (*Init)();
  const char* (*ErrorString)(Result);
  Result (*DeviceGetCount)(unsigned*);
  Result (*DeviceGetHandleByIndex)(unsigned, Device*);
  Result (*DeviceGetPciInfo)(Device, PciInfo*);
  Result (*DeviceGetClockInfo)(Device, int, unsigned*);
  Result (*DeviceGetMaxClockInfo)(Device, int, unsigned*);
  Result (*DeviceGetClockReasons)(Device, unsigned long long*);
  Result (*DeviceGetTemperature)(Device, int, unsigned*);
  Result (*DeviceGetPowerUsage)(Device, unsigned*);          // mW
  Result (*DeviceGetEnforcedPowerLimit)(Device, unsigned*);  // mW
  Result (*DeviceGetTotalEccErrors)(Device, int, int, unsigned long long*);
  Result (*DeviceGetRemappedRows)(Device, unsigned*, unsigned*, unsigned*, unsigned*);
  Result (*DeviceGetCurrPcieLinkWidth)(Device, unsigned*);
  Result (*DeviceGetMaxPcieLinkWidth)(Device, unsigned*);
  Result (*DeviceGetCurrPcieLinkGeneration)(Device, unsigned*);
  Result (*DeviceGetMaxPcieLinkGeneration)(Device, unsigned*);
  Result (*DeviceGetPcieReplayCounter)(Device, unsigned*);
  Result (*DeviceGetNvLinkState)(Device, unsigned, int*);
  Result (*DeviceGetNvLinkErrorCounter)(Device, unsigned, int, unsigned long long*);
  Result (*DeviceGetComputeRunningProcesses)(Device, unsigned*, ProcessInfo*);
  Result (*EventSetCreate)(EventSet*);
  Result (*DeviceRegisterEvents)(Device, unsigned long long, EventSet);
  Result (*EventSetWait)(EventSet, EventData*, unsigned);
};

inline constexpr char kLibraryName[] = "libnvidia-ml.so.1";

absl::StatusOr<Library> Load(const std::string& file = kLibraryName);

}  // namespace fathom::agent::nvml

#endif  // FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_NVML_LIBRARY_H_
