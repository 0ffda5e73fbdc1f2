#include "diagnosis/tables/device_timeline.h"

#include <algorithm>

namespace fathom::diagnosis {
namespace {

// The begin of the first event that is one too many. Requires: there is one.
std::int64_t CutAfter(const RankWork& work, std::size_t most) {
  std::vector<std::int64_t> begins;
  begins.reserve(work.device.size() + work.host_ops.size());
  for (const DeviceWork& each : work.device) begins.push_back(each.begin);
  for (const HostOp& each : work.host_ops) begins.push_back(each.begin);
  const auto at = begins.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(begins.begin(), at, begins.end());
  return *at;
}

template <typename Event>
std::vector<Event> Before(std::int64_t until, const std::vector<Event>& events) {
  std::vector<Event> kept;
  for (const Event& each : events) {
    if (each.begin < until) kept.push_back(each);
  }
  std::stable_sort(kept.begin(), kept.end(), [](const Event& a, const Event& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  return kept;
}

}  // namespace

DeviceTimeline TimelineOf(const RankWork& work, std::size_t most) {
  DeviceTimeline timeline;
  const std::size_t all = work.device.size() + work.host_ops.size();
  if (all > most) timeline.until = CutAfter(work, most);
  timeline.work.device = Before(timeline.until, work.device);
  timeline.work.host_ops = Before(timeline.until, work.host_ops);
  timeline.work.streams = work.streams;
  timeline.work.names = work.names;
  timeline.left_out = all - timeline.work.device.size() - timeline.work.host_ops.size();
  return timeline;
}

void Rebase(std::int64_t base, DeviceTimeline& timeline) {
  timeline.base = base;
  if (timeline.until != kNothingCut) timeline.until += base;
}

}  // namespace fathom::diagnosis
