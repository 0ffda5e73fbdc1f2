#include "collector/import/recorded_functions.h"

#include <algorithm>
#include <set>

#include "diagnosis/functions/name_function.h"

namespace fathom::collector {
namespace {

bool OpsAlone(const diagnosis::StackCapture& capture) {
  return std::none_of(capture.ranks.begin(), capture.ranks.end(),
                      [](const auto& entry) { return entry.second.source == "trace"; });
}

}  // namespace

void TellRecordedFunctions(Recording& recording, std::vector<Episode>& episodes) {
  if (recording.capture.ranks.empty()) return;
  diagnosis::StackCapture& capture = recording.capture;
  std::set<RankId> accused;
  for (const Episode& episode : episodes) {
    const auto& ranks = episode.verdict.entity.ranks;
    if (diagnosis::WantsFunction(episode.verdict)) accused.insert(ranks.begin(), ranks.end());
  }
  capture.accused.assign(accused.begin(), accused.end());
  for (Episode& episode : episodes) {
    if (!diagnosis::WantsFunction(episode.verdict)) continue;
    episode.detail = diagnosis::FindFunction(recording.view, capture, episode.verdict);
    if (!episode.detail.known() && OpsAlone(capture)) {
      episode.detail.missing =
          "functions of Python: the traces hold ops alone; record them with with_stack=True";
    }
    diagnosis::TellFunction(episode.detail, episode.verdict);
  }
}

}  // namespace fathom::collector
