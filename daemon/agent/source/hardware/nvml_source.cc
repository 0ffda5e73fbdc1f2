#include "daemon/agent/source/hardware/nvml_source.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/agent/source/process/process_tree.h"
#include "proto/types/gpu.h"

namespace fathom::agent {
namespace {

constexpr unsigned kMostProcesses = 64;
constexpr int kMostEvents = 16;  // a sample
constexpr char kMps[] = "nvidia-cuda-mps";

// CUDA writes four digits of the domain, NVML eight.
std::string CudaBusId(const nvml::PciInfo& pci) {
  std::string id(pci.bus_id, strnlen(pci.bus_id, sizeof(pci.bus_id)));
  if (id.size() == 16 && absl::StartsWith(id, "0000")) id = id.substr(4);
  std::transform(id.begin(), id.end(), id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return IsPciBusId(id) ? id : std::string();
}

}  // namespace

// Calls NVML for one GPU, names each call before it is made, and adds what comes back.
class NvmlSource::Look {
 public:
  Look(Gpu& gpu, int index, CallInProgress& doing, std::vector<Reading>& out)
      : gpu_(gpu), index_(index), doing_(doing), out_(out) {}

  // False: the driver lacks the function, or the GPU does not tell.
  template <typename Function, typename... Arguments>
  bool Call(const char* name, Function function, Arguments... arguments) {
    if (function == nullptr || gpu_.lost) return false;
    doing_.Enter(name, index_);
    result_ = function(gpu_.device, arguments...);
    if (result_ == nvml::kGpuIsLost || result_ == nvml::kResetRequired) gpu_.lost = true;
    return result_ == nvml::kSuccess;
  }

  template <typename Function, typename... Arguments>
  void Read(HardwareMetric metric, double scale, const char* name, Function function,
            Arguments... arguments) {
    unsigned value = 0;
    if (Call(name, function, arguments..., &value)) Add(metric, value * scale);
  }

  void Add(HardwareMetric metric, double value, std::string note = "") {
    out_.push_back({DeviceKind::kGpu, gpu_.bus_id, metric, value, std::move(note)});
  }

  nvml::Result result() const { return result_; }
  Gpu& gpu() { return gpu_; }

 private:
  Gpu& gpu_;
  const int index_;
  CallInProgress& doing_;
  std::vector<Reading>& out_;
  nvml::Result result_ = nvml::kSuccess;
};

absl::Status NvmlSource::Failed(const char* call, nvml::Result result) const {
  const char* words = library_->ErrorString(result);
  return absl::FailedPreconditionError(
      absl::StrCat(call, ": ", words == nullptr ? "error" : words, " (", result, ")"));
}

absl::Status NvmlSource::Begin(CallInProgress& doing) {
  if (ready_) return absl::OkStatus();
  if (!library_) {
    doing.Enter("dlopen of libnvidia-ml");
    auto library = nvml::Load(parts_.library);
    if (!library.ok()) return library.status();
    library_ = *library;
  }
  doing.Enter("nvmlInit");
  const nvml::Result result = library_->Init();
  if (result != nvml::kSuccess) return Failed("nvmlInit", result);
  const absl::Status found = FindGpus(doing);
  ready_ = found.ok();
  return found;
}

absl::Status NvmlSource::FindGpus(CallInProgress& doing) {
  gpus_.clear();
  events_ = nullptr;
  samples_ = 0;
  unsigned count = 0;
  doing.Enter("nvmlDeviceGetCount");
  const nvml::Result result = library_->DeviceGetCount(&count);
  if (result != nvml::kSuccess) return Failed("nvmlDeviceGetCount", result);
  if (library_->EventSetCreate != nullptr && library_->EventSetWait != nullptr &&
      library_->DeviceRegisterEvents != nullptr) {
    doing.Enter("nvmlEventSetCreate");
    if (library_->EventSetCreate(&events_) != nvml::kSuccess) events_ = nullptr;
  }
  for (unsigned i = 0; i < std::min(count, kMostGpus); ++i) {
    Gpu gpu;
    nvml::PciInfo pci{};
    doing.Enter("nvmlDeviceGetHandleByIndex", static_cast<int>(i));
    // One that fell off the bus before is not in the list.
    if (library_->DeviceGetHandleByIndex(i, &gpu.device) != nvml::kSuccess) continue;
    if (library_->DeviceGetPciInfo(gpu.device, &pci) != nvml::kSuccess) continue;
    gpu.bus_id = CudaBusId(pci);
    if (gpu.bus_id.empty()) continue;
    doing.Enter("nvmlDeviceRegisterEvents", static_cast<int>(i));
    if (events_ != nullptr) library_->DeviceRegisterEvents(gpu.device, nvml::kEventXid, events_);
    gpus_.push_back(std::move(gpu));
  }
  return gpus_.empty() ? absl::NotFoundError("NVML knows of no GPU") : absl::OkStatus();
}

absl::Status NvmlSource::Sample(CallInProgress& doing, std::vector<Reading>& out) {
  if (absl::Status status = Begin(doing); !status.ok()) return status;
  TakeEvents(doing);
  const bool seldom = samples_++ % kSlowEvery == 0;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    Gpu& gpu = gpus_[i];
    if (seldom) gpu.lost = false;
    Look look(gpu, static_cast<int>(i), doing, out);
    ReadOften(look);
    if (seldom) ReadSeldom(look);
    look.Add(HardwareMetric::kGpuLost, gpu.lost ? 1 : 0);
    // The driver was taken away, or another one came.
    if (look.result() == nvml::kUninitialized) {
      ready_ = false;
      return Failed("nvmlDeviceGetClockInfo", look.result());
    }
  }
  return absl::OkStatus();
}

void NvmlSource::TakeEvents(CallInProgress& doing) {
  for (int i = 0; events_ != nullptr && i < kMostEvents; ++i) {
    nvml::EventData event{};
    doing.Enter("nvmlEventSetWait");
    if (library_->EventSetWait(events_, &event, 0) != nvml::kSuccess) return;
    if (event.type != nvml::kEventXid) continue;
    for (Gpu& gpu : gpus_) {
      if (gpu.device != event.device) continue;
      gpu.xids += 1;
      gpu.newest_xid = absl::StrCat("Xid ", event.data);
    }
  }
}

void NvmlSource::ReadOften(Look& look) const {
  const nvml::Library& l = *library_;
  using M = HardwareMetric;
  look.Read(M::kSmClock, 1, "nvmlDeviceGetClockInfo", l.DeviceGetClockInfo, nvml::kClockSm);
  look.Read(M::kMemoryClock, 1, "nvmlDeviceGetClockInfo", l.DeviceGetClockInfo, nvml::kClockMemory);
  look.Read(M::kTemperature, 1, "nvmlDeviceGetTemperature", l.DeviceGetTemperature,
            nvml::kTemperatureGpu);
  look.Read(M::kPower, 1e-3, "nvmlDeviceGetPowerUsage", l.DeviceGetPowerUsage);
  unsigned long long reasons = 0;
  if (look.Call("nvmlDeviceGetCurrentClocksEventReasons", l.DeviceGetClockReasons, &reasons)) {
    look.Add(M::kClockReasons, static_cast<double>(reasons));
  }
  look.Add(M::kXidErrors, look.gpu().xids, look.gpu().newest_xid);
}

void NvmlSource::ReadSeldom(Look& look) const {
  const nvml::Library& l = *library_;
  using M = HardwareMetric;
  look.Read(M::kMaxSmClock, 1, "nvmlDeviceGetMaxClockInfo", l.DeviceGetMaxClockInfo,
            nvml::kClockSm);
  look.Read(M::kMaxMemoryClock, 1, "nvmlDeviceGetMaxClockInfo", l.DeviceGetMaxClockInfo,
            nvml::kClockMemory);
  look.Read(M::kPowerLimit, 1e-3, "nvmlDeviceGetEnforcedPowerLimit", l.DeviceGetEnforcedPowerLimit);
  look.Read(M::kPcieWidth, 1, "nvmlDeviceGetCurrPcieLinkWidth", l.DeviceGetCurrPcieLinkWidth);
  look.Read(M::kMaxPcieWidth, 1, "nvmlDeviceGetMaxPcieLinkWidth", l.DeviceGetMaxPcieLinkWidth);
  look.Read(M::kPcieGeneration, 1, "nvmlDeviceGetCurrPcieLinkGeneration",
            l.DeviceGetCurrPcieLinkGeneration);
  look.Read(M::kMaxPcieGeneration, 1, "nvmlDeviceGetMaxPcieLinkGeneration",
            l.DeviceGetMaxPcieLinkGeneration);
  look.Read(M::kPcieReplays, 1, "nvmlDeviceGetPcieReplayCounter", l.DeviceGetPcieReplayCounter);
  for (const auto& [metric, kind] : {std::pair{M::kEccCorrected, nvml::kEccCorrected},
                                     {M::kEccUncorrected, nvml::kEccUncorrected}}) {
    unsigned long long errors = 0;
    if (look.Call("nvmlDeviceGetTotalEccErrors", l.DeviceGetTotalEccErrors, kind,
                  nvml::kEccVolatile, &errors)) {
      look.Add(metric, static_cast<double>(errors));
    }
  }
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
  if (look.Call("nvmlDeviceGetRemappedRows", l.DeviceGetRemappedRows, &corrected, &uncorrected,
                &pending, &failed)) {
    look.Add(M::kRemappedRows, corrected + uncorrected);
    look.Add(M::kRemapPending, failed != 0 ? 2 : pending != 0 ? 1 : 0);
  }
  ReadLinks(look);
  ReadProcesses(look);
}

void NvmlSource::ReadLinks(Look& look) const {
  const nvml::Library& l = *library_;
  int up = 0, known = 0;
  std::optional<double> errors;
  for (unsigned link = 0; link < nvml::kMostLinks; ++link) {
    int active = 0;
    // Links are numbered without gaps.
    if (!look.Call("nvmlDeviceGetNvLinkState", l.DeviceGetNvLinkState, link, &active)) break;
    ++known;
    up += active != 0;
    for (int kind = 0; active != 0 && kind < nvml::kLinkErrors; ++kind) {
      unsigned long long count = 0;
      if (look.Call("nvmlDeviceGetNvLinkErrorCounter", l.DeviceGetNvLinkErrorCounter, link, kind,
                    &count)) {
        errors = errors.value_or(0) + static_cast<double>(count);
      }
    }
  }
  if (known == 0) return;
  look.Add(HardwareMetric::kNvlinksUp, up);
  if (errors) look.Add(HardwareMetric::kNvlinkErrors, *errors);
}

std::string NvmlSource::NameOf(std::uint32_t pid) const {
  const auto name = ReadSmallFile(absl::StrCat(parts_.roots.proc, "/", pid, "/comm"));
  return name.ok() ? name->substr(0, name->find('\n')) : std::string();
}

void NvmlSource::ReadProcesses(Look& look) const {
  std::array<nvml::ProcessInfo, kMostProcesses> processes{};
  unsigned count = kMostProcesses;
  if (!look.Call("nvmlDeviceGetComputeRunningProcesses", library_->DeviceGetComputeRunningProcesses,
                 &count, processes.data())) {
    return;
  }
  const std::set<std::uint32_t> traced = parts_.traced();
  bool ours = false;
  double others = 0;
  std::string note;
  for (unsigned i = 0; i < std::min(count, kMostProcesses); ++i) {
    const std::uint32_t pid = processes[i].pid;
    if (IsBelow(parts_.roots, pid, traced)) {
      ours = true;
      continue;
    }
    const std::string name = NameOf(pid);
    if (name.empty() || absl::StartsWith(name, kMps)) continue;
    others += 1;
    if (note.empty()) note = absl::StrCat(name, " (pid ", pid, ")");
  }
  if (ours) look.Add(HardwareMetric::kOtherProcesses, others, note);
}

}  // namespace fathom::agent
