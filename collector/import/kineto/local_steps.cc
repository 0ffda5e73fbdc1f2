#include "collector/import/kineto/local_steps.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "diagnosis/model/lookup.h"

namespace fathom::collector::kineto {
namespace {

using diagnosis::IterationSummary;
using diagnosis::RankIteration;
using Steps = std::map<std::int64_t, IterationSummary>;

constexpr std::size_t kFewestMeetings = 3;  // two distances that agree
constexpr std::int64_t kNone = -1;          // of no iteration

// Steps in which some rank communicates.
std::vector<std::int64_t> Meetings(const Steps& steps, const diagnosis::JobView& view) {
  std::set<std::int64_t> meetings;
  for (const auto& [rank, rows] : view.rows) {
    for (const diagnosis::CommOp& op : rows.ops) {
      if (steps.contains(op.iteration.value)) meetings.insert(op.iteration.value);
    }
  }
  return {meetings.begin(), meetings.end()};
}

// Every step from `first` to `last` is there: no pause of the profiler lies between them.
bool Whole(const Steps& steps, std::int64_t first, std::int64_t last) {
  const auto from = steps.lower_bound(first), to = steps.upper_bound(last);
  return std::distance(from, to) == last - first + 1;
}

// The distance of all meetings of one window; 1 where they differ.
std::int64_t DistanceOf(const std::vector<std::int64_t>& meetings, const Steps& steps) {
  std::set<std::int64_t> distances;
  std::size_t count = 1;
  for (std::size_t i = 1; i < meetings.size(); ++i) {
    if (!Whole(steps, meetings[i - 1], meetings[i])) continue;
    distances.insert(meetings[i] - meetings[i - 1]);
    ++count;
  }
  return count < kFewestMeetings || distances.size() != 1 ? 1 : *distances.begin();
}

void Add(const RankIteration& part, RankIteration& whole) {
  if (part.begin.known()) whole.begin = part.begin;
  for (Nanos RankIteration::*time :
       {&RankIteration::duration, &RankIteration::cpu, &RankIteration::runqueue,
        &RankIteration::blocked, &RankIteration::gc, &RankIteration::dataloader,
        &RankIteration::device}) {
    whole.*time += part.*time;
  }
}

// Adds the steps before `meeting`, from the latest to the first; false if a rank lacks one.
bool AddSteps(const Steps& steps, std::int64_t meeting, std::int64_t distance,
              IterationSummary& whole) {
  for (std::int64_t number = meeting - 1; number > meeting - distance; --number) {
    const auto step = steps.find(number);
    if (step == steps.end()) return false;
    for (RankIteration& rank : whole.ranks) {
      const RankIteration* part = diagnosis::RankIn(step->second, rank.rank);
      if (part == nullptr) return false;
      Add(*part, rank);
    }
  }
  return true;
}

template <typename Events>
void Move(const std::map<std::int64_t, std::int64_t>& to, Events& events) {
  for (auto& event : events) {
    const auto meeting = to.find(event.iteration.value);
    if (meeting != to.end()) event.iteration = Iteration(meeting->second);
  }
}

}  // namespace

std::int64_t JoinLocalSteps(Steps& by_number, diagnosis::JobView& view) {
  const std::vector<std::int64_t> meetings = Meetings(by_number, view);
  const std::int64_t distance = DistanceOf(meetings, by_number);
  if (distance <= 1) return 1;
  Steps joined;
  std::map<std::int64_t, std::int64_t> to;
  for (const std::int64_t meeting : meetings) {
    IterationSummary whole = by_number.at(meeting);
    if (!AddSteps(by_number, meeting, distance, whole)) {
      to[meeting] = kNone;
      continue;
    }
    for (std::int64_t number = meeting - distance + 1; number < meeting; ++number) {
      to[number] = meeting;
    }
    joined.emplace(meeting, std::move(whole));
  }
  if (joined.empty()) return 1;
  by_number = std::move(joined);
  for (auto& [rank, rows] : view.rows) {
    Move(to, rows.ops);
    Move(to, rows.marks);
    Move(to, rows.functions);
  }
  return distance;
}

}  // namespace fathom::collector::kineto
