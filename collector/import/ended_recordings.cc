#include "collector/import/ended_recordings.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kNamed = 8;  // ranks; of more the number tells enough

std::string InWords(const std::vector<std::uint32_t>& ranks) {
  if (ranks.size() == 1) return absl::StrCat("rank ", ranks.front());
  if (ranks.size() > kNamed) return absl::StrCat(ranks.size(), " ranks");
  return absl::StrCat("ranks ", absl::StrJoin(ranks, ", "));
}

}  // namespace

void TellEndedRecordings(Recording& recording) {
  const auto& window = recording.view.window;
  if (recording.replayed || window.empty()) return;
  std::map<RankId, Iteration> last;
  for (const auto& iteration : window) {
    for (const auto& rank : iteration.ranks) last[rank.rank] = iteration.index;
  }
  std::vector<std::uint32_t> ended;
  Iteration first = window.back().index;
  for (const auto& [rank, iteration] : last) {
    if (iteration >= window.back().index) continue;
    ended.push_back(rank.value);
    first = std::min(first, iteration);
  }
  if (ended.empty()) return;
  recording.view.signals.push_back(
      {"recording", diagnosis::SignalState::Level::kPartly,
       absl::StrCat("what ", InWords(ended), " did after iteration ", first.value,
                    ended.size() == 1 ? ": its recording ends there"
                                      : " or later: their recordings end there")});
}

}  // namespace fathom::collector
