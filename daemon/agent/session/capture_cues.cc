#include "daemon/agent/session/capture_cues.h"

#include <utility>

namespace fathom::agent {
namespace {

constexpr auto kMaxRecordingNs = static_cast<std::int64_t>(kMaxRecordingSeconds * 1e9);

}  // namespace

std::shared_ptr<const RecordingCue> CaptureCues::Add(CueOrder order) {
  auto cue = std::make_shared<RecordingCue>();
  const std::int64_t until_ns = order.deadline_ns;
  waiting_.push_back({std::move(order), cue, until_ns});
  return cue;
}

void CaptureCues::Look(std::int64_t now_ns, const Newest& newest) {
  for (Waiting& each : waiting_) Step(each, now_ns, newest(each.order));
  std::erase_if(waiting_, [](const Waiting& each) {
    const RecordingCue::State state = each.cue->state;
    return state == RecordingCue::kEnough || state == RecordingCue::kGivenUp;
  });
}

void CaptureCues::Step(Waiting& each, std::int64_t now_ns, std::optional<std::uint64_t> at) {
  const bool late = now_ns > each.until_ns;
  auto& state = each.cue->state;
  if (state == RecordingCue::kRecord) {
    if (late || (at && *at > each.order.close_sequence)) state = RecordingCue::kEnough;
  } else if (at && *at >= each.order.open_sequence) {
    each.until_ns = now_ns + kMaxRecordingNs;
    state = RecordingCue::kRecord;
  } else if (late) {
    state = RecordingCue::kGivenUp;
  }
}

}  // namespace fathom::agent
