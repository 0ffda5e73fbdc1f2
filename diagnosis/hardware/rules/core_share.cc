#include "diagnosis/hardware/rules/core_share.h"

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

constexpr double kBehind = 5;       // steps of niceness: a third of the others' share of a core
constexpr double kIdle = 40;        // as the agent tells SCHED_IDLE
constexpr double kFewer = 0.5;      // of the peers' cores
constexpr double kTaken = 0.4;      // of its cores, by others
constexpr double kTakenMore = 0.3;  // than of the peers'

std::optional<double> MedianOfPeers(const HardwareCase& c, HardwareMetric metric) {
  std::vector<double> levels;
  for (const HardwareDevice* peer : c.peer_processes) {
    const auto level = peer == nullptr ? std::nullopt : LevelIn(*peer, metric, c.now);
    if (level) levels.push_back(*level);
  }
  if (levels.empty()) return std::nullopt;
  return Median(std::move(levels));
}

HardwareFinding Found(const HardwareCase& c, const char* metric, std::string words,
                      Evidence evidence, std::string action) {
  HardwareFinding finding;
  finding.words = std::move(words);
  finding.counter = absl::StrCat(metric, " of process ", c.process->name);
  finding.evidence = std::move(evidence);
  finding.convicts = true;
  finding.action = std::move(action);
  return finding;
}

bool ExaminePriority(const HardwareCase& c, HardwareFindings& out) {
  const auto own = LevelIn(*c.process, HardwareMetric::kPriority, c.now);
  const auto peers = MedianOfPeers(c, HardwareMetric::kPriority);
  if (!own || !peers || *own < *peers + kBehind) return false;
  const std::string process = absl::StrCat("process ", c.process->name);
  std::string words =
      *own >= kIdle
          ? absl::StrCat(process, " runs at idle priority, its peers do not")
          : absl::StrFormat("%s has niceness %.0f, its peers %.0f", process, *own, *peers);
  out.found.push_back(
      Found(c, "priority", std::move(words),
            {absl::StrCat("Niceness of ", process,
                          " since the onset (40: idle priority); of its "
                          "peers as given."),
             *own, "", *peers, kHardwareReadings},
            absl::StrCat("See who set it, and undo it: renice -n 0, chrt --other -p 0, of ",
                         c.process->name, ".")));
  return true;
}

void ExamineCores(const HardwareCase& c, HardwareFindings& out) {
  const auto cores = LevelIn(*c.process, HardwareMetric::kAllowedCores, c.now);
  const auto taken = LevelIn(*c.process, HardwareMetric::kCoresTaken, c.now);
  const auto peer_cores = MedianOfPeers(c, HardwareMetric::kAllowedCores);
  const auto peer_taken = MedianOfPeers(c, HardwareMetric::kCoresTaken);
  if (!cores || !taken || !peer_cores || !peer_taken) return;
  const std::string its = *cores == 1 ? "its only core" : absl::StrFormat("its %.0f cores", *cores);
  Evidence evidence{absl::StrFormat("Share of the time of %s that others took since the onset; of "
                                    "the cores of its peers (%.0f each) as given.",
                                    its, *peer_cores),
                    100 * *taken, "%", 100 * *peer_taken, kHardwareReadings};
  const bool fewer = *cores <= kFewer * *peer_cores && *taken >= kTaken;
  const bool fuller = *taken >= kTaken && *taken >= *peer_taken + kTakenMore;
  if (!fewer && !fuller) {
    if (*taken < kTaken / 2) out.counter_evidence.push_back(std::move(evidence));
    return;
  }
  const std::string compared = fewer ? absl::StrFormat("its peers may use %.0f", *peer_cores)
                                     : absl::StrFormat("%.0f %% of its peers'", 100 * *peer_taken);
  out.found.push_back(Found(
      c, "cores_taken",
      absl::StrFormat("others take %.0f %% of %s, %s", 100 * *taken, its, compared),
      std::move(evidence),
      absl::StrCat("See who else runs on the cores of process ", c.process->name,
                   " (taskset -cp, ps -eo pid,psr,pcpu,comm --sort=-pcpu), and give it others.")));
}

void ExamineShare(const HardwareCase& c, HardwareFindings& out) {
  if (c.process == nullptr) return;
  if (!ExaminePriority(c, out)) ExamineCores(c, out);
}

}  // namespace

HardwareRule CoreShareRule() { return {"core_share", ConcernsOwnTime, ExamineShare}; }

}  // namespace fathom::diagnosis
