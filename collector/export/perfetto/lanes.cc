#include "collector/export/perfetto/lanes.h"

namespace fathom::collector::perfetto {

bool Lanes::Fits(std::size_t lane, const Slice& slice) {
  auto& open = open_[lane];
  while (!open.empty() && open.back() <= slice.begin_ns) {
    writer_.End(track_.id + lane, open.back());
    open.pop_back();
  }
  return open.empty() || open.back() >= slice.end_ns;
}

void Lanes::AddLane() {
  Track lane = track_;
  lane.id += open_.size();
  if (!open_.empty() && track_.thread != 0) {
    lane.parent = track_.id;
    lane.process = lane.thread = 0;
  }
  writer_.Add(lane);
  open_.emplace_back();
}

void Lanes::Put(const Slice& slice) {
  std::size_t lane = 0;
  while (lane < open_.size() && !Fits(lane, slice)) ++lane;
  if (lane >= kMostLanes) {
    ++left_out_;
    return;
  }
  if (lane == open_.size()) AddLane();
  writer_.Begin(track_.id + lane, slice);
  open_[lane].push_back(slice.end_ns);
}

void Lanes::Finish() {
  for (std::size_t lane = 0; lane < open_.size(); ++lane) {
    for (auto end = open_[lane].rbegin(); end != open_[lane].rend(); ++end) {
      writer_.End(track_.id + lane, *end);
    }
    open_[lane].clear();
  }
}

}  // namespace fathom::collector::perfetto
