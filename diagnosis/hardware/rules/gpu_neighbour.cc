#include "diagnosis/hardware/rules/gpu_neighbour.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace fathom::diagnosis {
namespace {

bool Concerns(const Verdict& verdict) {
  return verdict.cause == Cause::kComputeSlow || verdict.cause == Cause::kUnknown ||
         verdict.cause == Cause::kHostSlow;
}

void Examine(const HardwareCase& c, HardwareFindings& out) {
  if (c.gpu == nullptr) return;
  const auto others = Compare(*c.gpu, c.peer_gpus, HardwareMetric::kOtherProcesses, c);
  if (!others) return;
  // A monitor that is on all of them is not why one is slow, nor one that was there before.
  const bool new_here = !others->before || *others->before < others->now;
  const bool alone = !others->peers || *others->peers < others->now;
  if (others->now < 1) {
    out.counter_evidence.push_back({absl::StrCat("No other process is on GPU ", c.gpu->name, "."),
                                    others->now, "processes", others->peers.value_or(0),
                                    kHardwareReadings});
  }
  if (others->now < 1 || !new_here || !alone) return;
  const std::string& note = SeriesOf(*c.gpu, HardwareMetric::kOtherProcesses)->note;
  const WallNs since = SinceBeyond(*c.gpu, HardwareMetric::kOtherProcesses, others->now - 0.5);
  HardwareFinding finding = OnGpu(
      c,
      absl::StrCat("another process on its GPU", note.empty() ? "" : ", ", note, SinceWhen(since)),
      "other_processes",
      {absl::StrCat("Processes on GPU ", c.gpu->name,
                    " that belong to no traced job; on its peers as given."),
       others->now, "processes", others->peers.value_or(0), kHardwareReadings});
  finding.action = "Find out whose process it is, and end it or give it another GPU.";
  out.found.push_back(std::move(finding));
}

}  // namespace

HardwareRule GpuNeighbourRule() { return {"gpu_neighbour", Concerns, Examine}; }

}  // namespace fathom::diagnosis
