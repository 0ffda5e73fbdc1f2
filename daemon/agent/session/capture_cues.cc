#include "daemon/agent/session/capture_cues.h"

#include <utility>

namespace fathom::agent {

std::shared_ptr<const RecordingCue> CaptureCues::Add(CueOrder order) {
  auto cue = std::make_shared<RecordingCue>();
  waiting_.push_back({std::move(order), cue});
  return cue;
}

void CaptureCues::Look(std::int64_t now_ns, const Newest& newest) {
  std::erase_if(waiting_, [&](const Waiting& each) {
    const std::optional<std::uint64_t> at = newest(each.order);
    auto& state = each.cue->state;
    if (at && *at > each.order.close_sequence && state == RecordingCue::kRecord) {
      state = RecordingCue::kEnough;
    } else if (at && *at >= each.order.open_sequence && state == RecordingCue::kWait) {
      state = RecordingCue::kRecord;
    } else if (now_ns > each.order.deadline_ns) {
      state = state == RecordingCue::kRecord ? RecordingCue::kEnough : RecordingCue::kGivenUp;
    }
    return state == RecordingCue::kEnough || state == RecordingCue::kGivenUp;
  });
}

}  // namespace fathom::agent
