#include "diagnosis/ledger/replay_lanes.h"

#include <algorithm>

namespace fathom::diagnosis {

LaneReplay::LaneReplay(const LaneGraph& graph)
    : graph_(graph),
      time_(graph.lanes.size()),
      next_(graph.lanes.size()),
      joins_(graph.joins.size()),
      waiting_(graph.joins.size()),
      chained_(graph.joins.size()) {}

void LaneReplay::Reset() {
  std::fill(time_.begin(), time_.end(), 0.0);
  std::fill(next_.begin(), next_.end(), std::size_t{0});
  for (std::size_t j = 0; j < joins_.size(); ++j) {
    joins_[j] = {graph_.joins[j].lanes.size(), 0, 0, false};
    waiting_[j].clear();
    chained_[j].clear();
  }
  ready_.clear();
  due_.clear();
  ends_.assign(graph_.iterations.size(), 0.0);
  forced_ = 0;
}

std::vector<double> LaneReplay::Play(const LaneScales& scales) {
  scales_ = &scales;
  Reset();
  for (std::size_t lane = graph_.lanes.size(); lane-- > 0;) ready_.push_back(lane);
  for (;;) {
    while (!ready_.empty()) {
      const std::size_t lane = ready_.back();
      ready_.pop_back();
      Run(lane);
    }
    const bool whole = [&] {
      for (std::size_t l = 0; l < next_.size(); ++l) {
        if (next_[l] < graph_.lanes[l].steps.size()) return false;
      }
      return true;
    }();
    if (whole) break;
    ForceOne();
  }
  for (std::size_t i = 1; i < ends_.size(); ++i) ends_[i] = std::max(ends_[i], ends_[i - 1]);
  return ends_;
}

void LaneReplay::Run(std::size_t lane) {
  const std::vector<LaneStep>& steps = graph_.lanes[lane].steps;
  while (next_[lane] < steps.size()) {
    const LaneStep& step = steps[next_[lane]];
    const double factor = scales_->own.empty() ? 1 : scales_->own[lane][step.iteration];
    time_[lane] += step.own * factor;
    ++next_[lane];
    if (!Act(lane, step)) return;
  }
}

bool LaneReplay::Act(std::size_t lane, const LaneStep& step) {
  switch (step.act) {
    case LaneAct::kArrive:
      Come(step.join, time_[lane] + step.seconds);
      return true;
    case LaneAct::kChained:
      if (joins_[step.after].over) {
        Come(step.join, joins_[step.after].end + step.seconds);
      } else {
        chained_[step.after].push_back({step.join, step.seconds});
      }
      return true;
    case LaneAct::kWait:
      if (joins_[step.join].over) {
        time_[lane] = std::max(time_[lane], joins_[step.join].end);
        return true;
      }
      waiting_[step.join].push_back(lane);
      return false;
    case LaneAct::kBlocked:
      time_[lane] += step.seconds;
      return true;
    case LaneAct::kEnd:
      ends_[step.iteration] = std::max(ends_[step.iteration], time_[lane]);
      return true;
  }
  return true;
}

void LaneReplay::Come(std::size_t join, double when) {
  due_.emplace_back(join, when);
  Finish();
}

void LaneReplay::Finish() {
  while (!due_.empty()) {
    const auto [j, when] = due_.back();
    due_.pop_back();
    JoinState& state = joins_[j];
    state.latest = std::max(state.latest, when);
    if (state.over || state.missing == 0 || --state.missing > 0) continue;
    state.over = true;
    const double factor = scales_->transfer.empty() ? 1 : scales_->transfer[j];
    state.end = state.latest + graph_.joins[j].transfer * factor;
    for (const std::size_t lane : waiting_[j]) {
      time_[lane] = std::max(time_[lane], state.end);
      ready_.push_back(lane);
    }
    for (const Chained& next : chained_[j]) due_.emplace_back(next.join, state.end + next.lag);
    waiting_[j].clear();
    chained_[j].clear();
  }
}

void LaneReplay::ForceOne() {
  std::size_t behind = graph_.lanes.size();
  for (std::size_t l = 0; l < graph_.lanes.size(); ++l) {
    if (next_[l] >= graph_.lanes[l].steps.size()) continue;
    if (behind == graph_.lanes.size() || time_[l] < time_[behind]) behind = l;
  }
  const LaneStep& stuck = graph_.lanes[behind].steps[next_[behind] - 1];
  std::erase(waiting_[stuck.join], behind);
  time_[behind] += stuck.seconds;
  ready_.push_back(behind);
  ++forced_;
}

}  // namespace fathom::diagnosis
