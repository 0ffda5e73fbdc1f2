// The GPUs of the node, as NVIDIA's management library tells of them.
//
// Made by session/hardware_watch, run by source_runner. Not yet run on a GPU: written against the
// real header, tested with a simulated library (tests/fakes/nvml).
//
// Model: every sample reads clocks, why they are low, temperature and power of each GPU, and takes
// what Xid events came; every kSlowEvery-th also ECC counts, remapped rows, the width of the PCIe
// link, replays, NVLinks, and who is on the GPU, and so does the first. A GPU that is lost is told
// so, and asked again only with the slow ones. Of processes those count as others' that are neither
// traced nor below a traced one, and only where a traced one is on the same list: in another pid
// namespace the numbers would be of other processes.
//
// Units: those of HardwareMetric. Thread-safety: as hardware_source.h.
// Errors: NotFound: no library, or no GPU; FailedPrecondition: the call that failed, with NVML's
// words. What a GPU does not support is left out.
// Cost: 5 calls a GPU and sample, some 45 more with the slow ones; the budget stretches the pace
// where the driver makes them dear. A call may hang in the driver (see source_runner.h).
#ifndef FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_NVML_SOURCE_H_
#define FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_NVML_SOURCE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/agent/source/hardware/hardware_source.h"
#include "daemon/agent/source/hardware/nvml_library.h"
#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

class NvmlSource : public HardwareSource {
 public:
  static constexpr int kSlowEvery = 10;
  static constexpr unsigned kMostGpus = 64;

  struct Parts {
    KernelRoots roots;
    std::function<std::set<std::uint32_t>()> traced;  // processes; called on the source's thread
    std::string library = nvml::kLibraryName;
  };

  explicit NvmlSource(Parts parts) : parts_(std::move(parts)) {}

  std::string_view name() const override { return "nvml"; }
  double budget() const override { return 0.002; }
  absl::Status Sample(CallInProgress& doing, std::vector<Reading>& out) override;

 private:
  struct Gpu {
    nvml::Device device = nullptr;
    std::string bus_id;  // as CUDA writes it
    bool lost = false;
    double xids = 0;
    std::string newest_xid;
  };
  // One sample of one GPU.
  class Look;

  absl::Status Begin(CallInProgress& doing);
  absl::Status FindGpus(CallInProgress& doing);
  void TakeEvents(CallInProgress& doing);
  void ReadOften(Look& look) const;
  void ReadSeldom(Look& look) const;
  void ReadLinks(Look& look) const;
  void ReadProcesses(Look& look) const;
  std::string NameOf(std::uint32_t pid) const;
  absl::Status Failed(const char* call, nvml::Result result) const;

  const Parts parts_;
  std::optional<nvml::Library> library_;
  bool ready_ = false;
  std::vector<Gpu> gpus_;
  nvml::EventSet events_ = nullptr;
  std::uint64_t samples_ = 0;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_NVML_SOURCE_H_
