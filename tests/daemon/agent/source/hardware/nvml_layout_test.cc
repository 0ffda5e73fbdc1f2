// The agent's own declarations of NVML against the real header.
#include <gtest/gtest.h>
#include <nvml.h>

#include <cstddef>

#include "daemon/agent/source/hardware/nvml_library.h"

namespace fathom::agent::nvml {
namespace {

static_assert(sizeof(PciInfo) == sizeof(nvmlPciInfo_t));
static_assert(offsetof(PciInfo, bus_id) == offsetof(nvmlPciInfo_t, busId));
static_assert(sizeof(ProcessInfo) == sizeof(nvmlProcessInfo_t));
static_assert(offsetof(ProcessInfo, pid) == offsetof(nvmlProcessInfo_t, pid));
static_assert(sizeof(EventData) == sizeof(nvmlEventData_t));
static_assert(offsetof(EventData, type) == offsetof(nvmlEventData_t, eventType));
static_assert(offsetof(EventData, data) == offsetof(nvmlEventData_t, eventData));
static_assert(sizeof(nvmlReturn_t) == sizeof(Result) && sizeof(nvmlDevice_t) == sizeof(Device));
static_assert(kUninitialized == NVML_ERROR_UNINITIALIZED && kTimeout == NVML_ERROR_TIMEOUT);
static_assert(kNotSupported == NVML_ERROR_NOT_SUPPORTED);
static_assert(kInsufficientSize == NVML_ERROR_INSUFFICIENT_SIZE);
static_assert(kGpuIsLost == NVML_ERROR_GPU_IS_LOST && kResetRequired == NVML_ERROR_RESET_REQUIRED);
static_assert(kClockSm == NVML_CLOCK_SM && kClockMemory == NVML_CLOCK_MEM);
static_assert(kTemperatureGpu == NVML_TEMPERATURE_GPU);
static_assert(kEccCorrected == NVML_MEMORY_ERROR_TYPE_CORRECTED);
static_assert(kEccUncorrected == NVML_MEMORY_ERROR_TYPE_UNCORRECTED);
static_assert(kEccVolatile == NVML_VOLATILE_ECC);
static_assert(kEventXid == nvmlEventTypeXidCriticalError);
static_assert(kMostLinks == NVML_NVLINK_MAX_LINKS);
static_assert(kLinkErrors == NVML_NVLINK_ERROR_DL_CRC_DATA + 1);

// One function of ours takes what the header's takes, size for size.
template <typename Ours, typename... A, typename Theirs, typename... B>
constexpr bool Alike(Ours (*)(A...), Theirs (*)(B...)) {
  return sizeof...(A) == sizeof...(B) && ((sizeof(A) == sizeof(B)) && ...) &&
         sizeof(Ours) == sizeof(Theirs);
}

TEST(NvmlLayout, FunctionsTakeWhatTheHeaderSays) {
  constexpr Library kNone{};
  EXPECT_TRUE(Alike(kNone.DeviceGetPciInfo, &nvmlDeviceGetPciInfo_v3));
  EXPECT_TRUE(Alike(kNone.DeviceGetClockInfo, &nvmlDeviceGetClockInfo));
  EXPECT_TRUE(Alike(kNone.DeviceGetClockReasons, &nvmlDeviceGetCurrentClocksEventReasons));
  EXPECT_TRUE(Alike(kNone.DeviceGetTotalEccErrors, &nvmlDeviceGetTotalEccErrors));
  EXPECT_TRUE(Alike(kNone.DeviceGetRemappedRows, &nvmlDeviceGetRemappedRows));
  EXPECT_TRUE(Alike(kNone.DeviceGetNvLinkState, &nvmlDeviceGetNvLinkState));
  EXPECT_TRUE(Alike(kNone.DeviceGetNvLinkErrorCounter, &nvmlDeviceGetNvLinkErrorCounter));
  EXPECT_TRUE(
      Alike(kNone.DeviceGetComputeRunningProcesses, &nvmlDeviceGetComputeRunningProcesses_v3));
  EXPECT_TRUE(Alike(kNone.EventSetWait, &nvmlEventSetWait_v2));
  EXPECT_TRUE(Alike(kNone.DeviceRegisterEvents, &nvmlDeviceRegisterEvents));
}

}  // namespace
}  // namespace fathom::agent::nvml
