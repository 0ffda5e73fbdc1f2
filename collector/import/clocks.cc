#include "collector/import/clocks.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace fathom::collector {

void TellClocks(Recording& recording) {
  using Level = diagnosis::SignalState::Level;
  const std::size_t ranks = recording.view.rows.size();
  if (ranks < 2) return;
  recording.clocks = diagnosis::AlignClocks(recording.view);
  const diagnosis::ClockAlignment& clocks = recording.clocks;
  const std::size_t aligned = clocks.ranks.size();
  const Level level = aligned == 0 ? Level::kOff : aligned < ranks ? Level::kPartly : Level::kOn;
  std::string hides = "the order of events of different ranks";
  if (aligned > 0) {
    absl::StrAppend(&hides, " closer than ", clocks.residual.count / 1000 + 1,
                    " us; clocks are up to ", clocks.largest.count / 1000, " us apart");
  }
  recording.view.signals.push_back({"clocks", level, std::move(hides)});
}

}  // namespace fathom::collector
