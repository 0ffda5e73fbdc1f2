#include "diagnosis/hardware/rules/gpu_memory.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fathom::diagnosis {
namespace {

constexpr double kLower = 0.06;
constexpr double kManyCorrected = 1000;  // in the episode; a few are what ECC is for
constexpr char kAction[] =
    "Drain the node, reset the GPU so that its rows are remapped, and run a memory test; replace "
    "it "
    "if errors come again.";

bool Concerns(const Verdict& verdict) {
  return verdict.cause == Cause::kComputeSlow || verdict.cause == Cause::kUnknown ||
         verdict.cause == Cause::kHostSlow;
}

void Tell(const HardwareCase& c, const std::string& words, const char* metric, Evidence evidence,
          HardwareFindings& out) {
  HardwareFinding finding = OnGpu(c, words, metric, std::move(evidence));
  finding.cause = Cause::kMemorySlow;
  finding.action = kAction;
  out.found.push_back(std::move(finding));
}

void ExamineErrors(const HardwareCase& c, HardwareFindings& out) {
  const struct {
    HardwareMetric metric;
    double least;
    const char* words;
    const char* name;
  } kCounts[] = {
      {HardwareMetric::kEccUncorrected, 1, "uncorrected errors of its memory", "ecc_uncorrected"},
      {HardwareMetric::kRemappedRows, 1, "remapped rows of its memory", "remapped_rows"},
      {HardwareMetric::kEccCorrected, kManyCorrected, "corrected errors of its memory",
       "ecc_corrected"},
  };
  for (const auto& count : kCounts) {
    const auto rise = IncreaseIn(*c.gpu, count.metric, c.lately);
    if (rise.value_or(0) < count.least) continue;
    const double peers = MedianIncrease(c.peer_gpus, count.metric, c.lately).value_or(0);
    if (peers * 2 >= *rise) continue;
    Tell(c, absl::StrFormat("with %s %s since the onset", WithCommas(*rise), count.words),
         count.name,
         {absl::StrCat("GPU ", c.gpu->name, ": ", count.words,
                       " that came since a minute before the onset; on its peers as given."),
          *rise, "errors", peers, kHardwareReadings},
         out);
    return;
  }
}

void Examine(const HardwareCase& c, HardwareFindings& out) {
  if (c.gpu == nullptr) return;
  ExamineErrors(c, out);
  const auto clock = Compare(*c.gpu, c.peer_gpus, HardwareMetric::kMemoryClock, c);
  if (!clock || !clock->Lower(kLower)) return;
  Tell(c,
       absl::StrFormat("at a low memory clock (%s against %s MHz)", WithCommas(clock->now),
                       WithCommas(clock->reference())),
       "memory_clock",
       {absl::StrCat("The memory clock of GPU ", c.gpu->name, " since the onset, median."),
        clock->now, "MHz", clock->reference(), kHardwareReadings},
       out);
}

}  // namespace

HardwareRule GpuMemoryRule() { return {"gpu_memory", Concerns, Examine}; }

}  // namespace fathom::diagnosis
