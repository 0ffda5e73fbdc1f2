#include "diagnosis/hardware/rules/gpu_faults.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fathom::diagnosis {
namespace {

constexpr char kAction[] =
    "Drain the node and read the driver's messages (dmesg | grep -i xid) before the GPU is used "
    "again.";

bool Concerns(const Verdict& verdict) { return verdict.cause != Cause::kImbalance; }

void Tell(const HardwareCase& c, const std::string& words, const char* metric, Evidence evidence,
          HardwareFindings& out) {
  HardwareFinding finding = OnGpu(c, words, metric, std::move(evidence));
  finding.action = kAction;
  out.found.push_back(std::move(finding));
}

void Examine(const HardwareCase& c, HardwareFindings& out) {
  if (c.gpu == nullptr) return;
  const HardwareSeries* lost = SeriesOf(*c.gpu, HardwareMetric::kGpuLost);
  if (lost != nullptr && lost->points.back().value > 0) {
    const WallNs since = SinceBeyond(*c.gpu, HardwareMetric::kGpuLost, 0.5);
    Tell(c, absl::StrCat("its GPU has fallen off the bus", SinceWhen(since)), "gpu_lost",
         {absl::StrCat("GPU ", c.gpu->name, " does not answer the driver any more."), 1, "", 0,
          kHardwareReadings},
         out);
    return;
  }
  const auto rise = IncreaseIn(*c.gpu, HardwareMetric::kXidErrors, c.lately);
  if (rise.value_or(0) < 1) return;
  const std::string& note = SeriesOf(*c.gpu, HardwareMetric::kXidErrors)->note;
  Tell(
      c,
      absl::StrFormat("its GPU reported %s", note.empty() ? std::string("a critical error") : note),
      "xid_errors",
      {absl::StrFormat(
           "Critical errors (Xid) that GPU %s reported since a minute before the onset; "
           "the newest is %s.",
           c.gpu->name, note.empty() ? std::string("not known") : note),
       *rise, "errors",
       MedianIncrease(c.peer_gpus, HardwareMetric::kXidErrors, c.lately).value_or(0),
       kHardwareReadings},
      out);
}

}  // namespace

HardwareRule GpuFaultsRule() { return {"gpu_faults", Concerns, Examine}; }

}  // namespace fathom::diagnosis
