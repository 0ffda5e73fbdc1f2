#include "diagnosis/hardware/rules/gpu_link.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fathom::diagnosis {
namespace {

constexpr double kReplaysPerSecond = 1;  // a sound link has hardly any
constexpr double kNvlinkErrorsPerSecond = 1;

bool Concerns(const Verdict& verdict) {
  return verdict.cause == Cause::kComputeSlow || verdict.cause == Cause::kHostSlow ||
         verdict.cause == Cause::kUnknown || verdict.cause == Cause::kDataLoader ||
         verdict.cause == Cause::kCommunicationSlow || verdict.cause == Cause::kLinkSlow;
}

void Tell(const HardwareCase& c, const std::string& words, const char* metric, Evidence evidence,
          HardwareFindings& out) {
  HardwareFinding finding = OnGpu(c, words, metric, std::move(evidence));
  finding.action =
      "Reseat the GPU or its riser, and compare with a peer: nvidia-smi -q -d PCIE, "
      "nvidia-smi nvlink -s.";
  out.found.push_back(std::move(finding));
}

// Whether most of the peers have as little: then the machines are built so.
bool PeersHave(const std::optional<double>& peers, double value) {
  return peers && *peers <= value;
}

void ExamineWidth(const HardwareCase& c, HardwareFindings& out) {
  const auto width = Compare(*c.gpu, c.peer_gpus, HardwareMetric::kPcieWidth, c);
  if (!width) return;
  const auto most = LevelIn(*c.gpu, HardwareMetric::kMaxPcieWidth, c.now);
  const double full = width->peers.value_or(most.value_or(width->now));
  if (width->now < full && !PeersHave(width->peers, width->now)) {
    return Tell(c, absl::StrFormat("its PCIe link at x%.0f, not x%.0f", width->now, full),
                "pcie_width",
                {absl::StrCat("Lanes of the PCIe link of GPU ", c.gpu->name, "."), width->now,
                 "lanes", full, kHardwareReadings},
                out);
  }
  out.counter_evidence.push_back(
      {absl::StrCat("The PCIe link of GPU ", c.gpu->name, " is as wide as it should be."),
       width->now, "lanes", full, kHardwareReadings});
}

void ExamineNvlinks(const HardwareCase& c, HardwareFindings& out) {
  const auto links = Compare(*c.gpu, c.peer_gpus, HardwareMetric::kNvlinksUp, c);
  if (!links || !links->peers || links->now >= *links->peers) return;
  Tell(c, absl::StrFormat("with %.0f of %.0f NVLinks", links->now, *links->peers), "nvlinks_up",
       {absl::StrCat("NVLinks of GPU ", c.gpu->name, " that are up; on its peers as given."),
        links->now, "links", *links->peers, kHardwareReadings},
       out);
}

void ExamineErrors(const HardwareCase& c, HardwareMetric metric, double per_second,
                   const char* what, HardwareFindings& out) {
  const auto rise = IncreaseIn(*c.gpu, metric, c.now);
  const double seconds = (c.now.to - c.now.from).Seconds();
  if (!rise || *rise < per_second * seconds || *rise < 10) return;
  const double peers = MedianIncrease(c.peer_gpus, metric, c.now).value_or(0);
  if (10 * peers > *rise) return;
  Tell(c, absl::StrFormat("with %s %s since the onset", WithCommas(*rise), what),
       std::string(TraitsOf(metric).name).c_str(),
       {absl::StrFormat("GPU %s: %s since the onset; on its peers as given.", c.gpu->name, what),
        *rise, std::string(TraitsOf(metric).unit), peers, kHardwareReadings},
       out);
}

void Examine(const HardwareCase& c, HardwareFindings& out) {
  if (c.gpu == nullptr) return;
  ExamineWidth(c, out);
  ExamineNvlinks(c, out);
  ExamineErrors(c, HardwareMetric::kPcieReplays, kReplaysPerSecond, "packets repeated over PCIe",
                out);
  ExamineErrors(c, HardwareMetric::kNvlinkErrors, kNvlinkErrorsPerSecond, "errors of its NVLinks",
                out);
}

}  // namespace

HardwareRule GpuLinkRule() { return {"gpu_link", Concerns, Examine}; }

}  // namespace fathom::diagnosis
