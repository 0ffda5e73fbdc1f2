#include "diagnosis/hardware/rules/stopped_time.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr double kSeldom = 0.02;  // of the time: what a rank may lose without being accused

std::optional<double> ShareStopped(const HardwareDevice& process, Stretch when) {
  const HardwareSeries* series = SeriesOf(process, HardwareMetric::kStoppedTime);
  const auto seconds = IncreaseIn(process, HardwareMetric::kStoppedTime, when);
  if (series == nullptr || !seconds) return std::nullopt;
  const double lasted = (when.to - std::max(when.from, series->points.front().at)).Seconds();
  if (lasted <= 0) return std::nullopt;
  return std::min(1.0, *seconds / lasted);
}

double PeersStopped(const HardwareCase& c) {
  std::vector<double> shares;
  for (const HardwareDevice* peer : c.peer_processes) {
    if (peer != nullptr) shares.push_back(ShareStopped(*peer, c.now).value_or(0));
  }
  return shares.empty() ? 0 : Median(std::move(shares));
}

void ExamineStops(const HardwareCase& c, HardwareFindings& out) {
  if (c.process == nullptr) return;
  const auto stopped = ShareStopped(*c.process, c.now);
  if (!stopped || *stopped < kSeldom) return;
  const auto earlier = c.before ? ShareStopped(*c.process, *c.before) : std::nullopt;
  const double usual = std::max(PeersStopped(c), earlier.value_or(0));
  if (usual > *stopped / 2) return;
  const std::string process = absl::StrCat("process ", c.process->name);
  HardwareFinding finding;
  finding.words = absl::StrFormat("stopped from outside for %.0f %% of the time", 100 * *stopped);
  finding.counter = absl::StrCat("stopped_time of ", process);
  finding.evidence = {
      absl::StrCat("Share of the time since the onset in which ", process,
                   " was stopped (SIGSTOP, a debugger, its control group frozen); of its peers, or "
                   "of itself before, as given."),
      100 * *stopped, "%", 100 * usual, kHardwareReadings};
  finding.action = absl::StrCat(
      "See who stops ", process,
      ": a debugger or tracer (TracerPid in /proc/PID/status), a batch system or a script that "
      "sends SIGSTOP, a container engine that pauses its control group.");
  out.found.push_back(std::move(finding));
}

}  // namespace

HardwareRule StoppedTimeRule() { return {"stopped_time", ConcernsOwnTime, ExamineStops}; }

}  // namespace fathom::diagnosis
