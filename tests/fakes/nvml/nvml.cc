// libnvidia-ml.so.1 without a GPU, defined with the signatures of the real header.
//
// What it says stands in the file that FAKE_NVML names, which is read anew at every call, so that a
// test can change it while a source runs:
//
//   gpus 2                            how many there are
//   0 sm_clock 1980                   a value of GPU 0; "*" for all; later lines win
//   1 lost 1                          GPU 1 has fallen off the bus
//   0 bus 3E                          its PCI bus, else 1B and on
//   0 processes 71 4242               process ids on GPU 0
//   0 xid 3 79                        its third event, an Xid 79
//   hang nvmlDeviceGetPowerUsage      the call does not return while the line is there
//   fail nvmlInit_v2 9                the call returns 9
//
// Values that are not named: not supported. Thread-safety: as the file's.
#include <nvml.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#define FAKE extern "C" __attribute__((visibility("default"))) nvmlReturn_t

namespace {

constexpr int kGpus = 16;
int handles[kGpus];
std::uint64_t events_seen[kGpus];

using Words = std::vector<std::string>;

std::vector<Words> Lines() {
  const char* path = std::getenv("FAKE_NVML");
  std::ifstream file(path == nullptr ? "" : path);
  std::vector<Words> lines;
  for (std::string text; std::getline(file, text);) {
    std::istringstream in(text);
    Words words;
    for (std::string word; in >> word;) words.push_back(word);
    if (words.size() >= 2) lines.push_back(words);
  }
  return lines;
}

int IndexOf(nvmlDevice_t device) {
  return static_cast<int>(reinterpret_cast<int*>(device) - handles);
}

// What follows `key` of a GPU in the last line that names both.
std::optional<Words> Find(int gpu, const std::string& key) {
  std::optional<Words> found;
  for (const Words& words : Lines()) {
    if (words.size() < 3 || words[1] != key) continue;
    if (words[0] != "*" && words[0] != std::to_string(gpu)) continue;
    found = Words(words.begin() + 2, words.end());
  }
  return found;
}

bool Hangs(const char* call) {
  for (const Words& words : Lines()) {
    if (words[0] == "hang" && words[1] == call) return true;
  }
  return false;
}

// What the call returns before it looks at anything.
nvmlReturn_t Enter(const char* call, int gpu = -1) {
  while (Hangs(call)) usleep(5000);
  for (const Words& words : Lines()) {
    if (words[0] == "fail" && words[1] == call) {
      return static_cast<nvmlReturn_t>(std::stoi(words.at(2)));
    }
  }
  if (gpu >= 0 && Find(gpu, "lost")) return NVML_ERROR_GPU_IS_LOST;
  return NVML_SUCCESS;
}

template <typename Value>
nvmlReturn_t Get(const char* call, nvmlDevice_t device, const std::string& key, Value* value) {
  const int gpu = IndexOf(device);
  if (const nvmlReturn_t result = Enter(call, gpu); result != NVML_SUCCESS) return result;
  const auto words = Find(gpu, key);
  if (!words) return NVML_ERROR_NOT_SUPPORTED;
  *value = static_cast<Value>(std::stoull(words->front()));
  return NVML_SUCCESS;
}

}  // namespace

#undef nvmlInit
FAKE nvmlInit_v2(void) { return Enter("nvmlInit_v2"); }

extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(nvmlReturn_t result) {
  return result == NVML_ERROR_DRIVER_NOT_LOADED ? "Driver Not Loaded" : "Unknown Error";
}

FAKE nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 0;
  for (const Words& words : Lines()) {
    if (words[0] == "gpus") *count = static_cast<unsigned>(std::stoul(words[1]));
  }
  return Enter("nvmlDeviceGetCount_v2");
}

FAKE nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  if (index >= kGpus) return NVML_ERROR_INVALID_ARGUMENT;
  *device = reinterpret_cast<nvmlDevice_t>(&handles[index]);
  return Enter("nvmlDeviceGetHandleByIndex_v2", static_cast<int>(index));
}

FAKE nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  const auto bus = Find(IndexOf(device), "bus");
  const int number = bus ? std::stoi(bus->front(), nullptr, 16) : 0x1b + IndexOf(device);
  std::snprintf(pci->busId, sizeof(pci->busId), "00000000:%02X:00.0", number);
  return Enter("nvmlDeviceGetPciInfo_v3", IndexOf(device));
}

FAKE nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* clock) {
  return Get("nvmlDeviceGetClockInfo", device, type == NVML_CLOCK_SM ? "sm_clock" : "memory_clock",
             clock);
}

FAKE nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* clock) {
  return Get("nvmlDeviceGetMaxClockInfo", device,
             type == NVML_CLOCK_SM ? "max_sm_clock" : "max_memory_clock", clock);
}

FAKE nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long* reasons) {
  return Get("nvmlDeviceGetCurrentClocksEventReasons", device, "reasons", reasons);
}

FAKE nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t, unsigned* degrees) {
  return Get("nvmlDeviceGetTemperature", device, "temperature", degrees);
}

FAKE nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* milliwatts) {
  return Get("nvmlDeviceGetPowerUsage", device, "power_mw", milliwatts);
}

FAKE nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned* milliwatts) {
  return Get("nvmlDeviceGetEnforcedPowerLimit", device, "power_limit_mw", milliwatts);
}

FAKE nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t type,
                                 nvmlEccCounterType_t, unsigned long long* count) {
  const bool corrected = type == NVML_MEMORY_ERROR_TYPE_CORRECTED;
  return Get("nvmlDeviceGetTotalEccErrors", device, corrected ? "ecc_corrected" : "ecc_uncorrected",
             count);
}

FAKE nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned* corrected, unsigned* uncorrected,
                               unsigned* pending, unsigned* failed) {
  *uncorrected = *failed = 0;
  const nvmlReturn_t result = Get("nvmlDeviceGetRemappedRows", device, "remapped", corrected);
  if (result != NVML_SUCCESS) return result;
  *pending = Find(IndexOf(device), "remap_pending") ? 1 : 0;
  return NVML_SUCCESS;
}

FAKE nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned* width) {
  return Get("nvmlDeviceGetCurrPcieLinkWidth", device, "pcie_width", width);
}

FAKE nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned* width) {
  return Get("nvmlDeviceGetMaxPcieLinkWidth", device, "max_pcie_width", width);
}

FAKE nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned* generation) {
  return Get("nvmlDeviceGetCurrPcieLinkGeneration", device, "pcie_generation", generation);
}

FAKE nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned* generation) {
  return Get("nvmlDeviceGetMaxPcieLinkGeneration", device, "max_pcie_generation", generation);
}

FAKE nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned* replays) {
  return Get("nvmlDeviceGetPcieReplayCounter", device, "pcie_replays", replays);
}

FAKE nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link, nvmlEnableState_t* active) {
  unsigned links = 0;
  const nvmlReturn_t result = Get("nvmlDeviceGetNvLinkState", device, "nvlinks", &links);
  if (result != NVML_SUCCESS) return result;
  if (link >= links) return NVML_ERROR_INVALID_ARGUMENT;
  const auto down = Find(IndexOf(device), "nvlink_down");
  *active =
      down && down->front() == std::to_string(link) ? NVML_FEATURE_DISABLED : NVML_FEATURE_ENABLED;
  return NVML_SUCCESS;
}

FAKE nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned, nvmlNvLinkErrorCounter_t kind,
                                     unsigned long long* count) {
  *count = 0;
  if (kind != NVML_NVLINK_ERROR_DL_REPLAY) return NVML_SUCCESS;
  return Get("nvmlDeviceGetNvLinkErrorCounter", device, "nvlink_replays", count);
}

FAKE nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned* count,
                                             nvmlProcessInfo_t* infos) {
  const int gpu = IndexOf(device);
  const nvmlReturn_t result = Enter("nvmlDeviceGetComputeRunningProcesses_v3", gpu);
  if (result != NVML_SUCCESS) return result;
  const Words pids = Find(gpu, "processes").value_or(Words());
  if (pids.size() > *count) return NVML_ERROR_INSUFFICIENT_SIZE;
  *count = static_cast<unsigned>(pids.size());
  for (std::size_t i = 0; i < pids.size(); ++i) {
    infos[i] = {};
    infos[i].pid = static_cast<unsigned>(std::stoul(pids[i]));
  }
  return NVML_SUCCESS;
}

FAKE nvmlEventSetCreate(nvmlEventSet_t* set) {
  *set = reinterpret_cast<nvmlEventSet_t>(events_seen);
  return Enter("nvmlEventSetCreate");
}

FAKE nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long, nvmlEventSet_t) {
  return Enter("nvmlDeviceRegisterEvents", IndexOf(device));
}

FAKE nvmlEventSetWait_v2(nvmlEventSet_t, nvmlEventData_t* data, unsigned) {
  if (const nvmlReturn_t result = Enter("nvmlEventSetWait_v2"); result != NVML_SUCCESS) {
    return result;
  }
  for (int gpu = 0; gpu < kGpus; ++gpu) {
    const auto xid = Find(gpu, "xid");
    if (!xid || std::stoull(xid->front()) <= events_seen[gpu]) continue;
    ++events_seen[gpu];
    *data = {};
    data->device = reinterpret_cast<nvmlDevice_t>(&handles[gpu]);
    data->eventType = nvmlEventTypeXidCriticalError;
    data->eventData = std::stoull(xid->at(1));
    return NVML_SUCCESS;
  }
  return NVML_ERROR_TIMEOUT;
}
