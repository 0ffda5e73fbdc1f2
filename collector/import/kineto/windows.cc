#include "collector/import/kineto/windows.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "collector/import/kineto/trace/comm_joiner.h"

namespace fathom::collector::kineto {
namespace {

constexpr std::size_t kNamed = 8;       // ranks or windows; of more the number tells enough
constexpr std::size_t kMostCuts = 256;  // in one file, each a pass over what it holds

// Moves what begins at or after `cut`. Requires: sorted by begin.
template <typename Event>
std::vector<Event> TakeFrom(std::int64_t cut, std::vector<Event>& events) {
  const auto from = std::partition_point(events.begin(), events.end(),
                                         [cut](const Event& event) { return event.begin < cut; });
  std::vector<Event> later(std::make_move_iterator(from), std::make_move_iterator(events.end()));
  events.erase(from, events.end());
  return later;
}

// As TakeFrom, of events in any order.
template <typename Event>
std::vector<Event> SiftFrom(std::int64_t cut, std::vector<Event>& events) {
  const auto from = std::stable_partition(events.begin(), events.end(),
                                          [cut](const Event& event) { return event.begin < cut; });
  std::vector<Event> later(from, events.end());
  events.erase(from, events.end());
  return later;
}

IntervalSet TakeFrom(std::int64_t cut, IntervalSet& set) {
  IntervalSet earlier, later;
  for (const Stretch& stretch : set.stretches()) {
    earlier.Add(stretch.begin, std::min(stretch.end, cut));
    later.Add(std::max(stretch.begin, cut), stretch.end);
  }
  earlier.Seal();
  later.Seal();
  set = std::move(earlier);
  return later;
}

std::map<std::int64_t, ThreadOps> TakeFrom(std::int64_t cut,
                                           std::map<std::int64_t, ThreadOps>& by_thread) {
  std::map<std::int64_t, ThreadOps> later;
  for (auto& [thread, ops] : by_thread) {
    ThreadOps& to = later[thread];
    to.busy = TakeFrom(cut, ops.busy);
    const auto from = std::lower_bound(ops.begins.begin(), ops.begins.end(), cut);
    to.begins.assign(from, ops.begins.end());
    ops.begins.erase(from, ops.begins.end());
  }
  return later;
}

Launches TakeFrom(std::int64_t cut, Launches& launches) {
  Launches later;
  for (const auto& [id, call] : launches) {
    if (call.begin >= cut) later.emplace(id, call);
  }
  absl::erase_if(launches, [cut](const auto& launch) { return launch.second.begin >= cut; });
  return later;
}

// Copies stay with the first part: their sums are not kept one by one.
diagnosis::RankWork TakeFrom(std::int64_t cut, diagnosis::RankWork& work) {
  diagnosis::RankWork later;
  later.device = SiftFrom(cut, work.device);
  later.host_ops = SiftFrom(cut, work.host_ops);
  later.streams = work.streams;
  later.names = work.names;
  return later;
}

RankTrace TakeFrom(std::int64_t cut, RankTrace& trace) {
  RankTrace later;
  later.path = trace.path;
  later.process = trace.process;
  later.device = trace.device;
  later.summary = trace.summary;
  later.groups = trace.groups;
  later.cut = trace.cut;  // lacks threads of all parts
  later.last_thread = trace.last_thread;
  later.last_begin = trace.last_begin;
  trace.summary.truncated = false;  // that is the last part
  later.summary.skipped = 0;        // told once
  later.steps = TakeFrom(cut, trace.steps);
  later.comms = TakeFrom(cut, trace.comms);
  later.marks = TakeFrom(cut, trace.marks);
  later.python = TakeFrom(cut, trace.python);
  later.ops_by_thread = TakeFrom(cut, trace.ops_by_thread);
  later.device_busy = TakeFrom(cut, trace.device_busy);
  later.grids = TakeFrom(cut, trace.grids);
  later.launches = TakeFrom(cut, trace.launches);
  later.work = TakeFrom(cut, trace.work);
  later.first = later.steps.front().begin;
  later.last = trace.last;
  trace.last = trace.steps.back().end;
  for (const CommEvent& comm : trace.comms) trace.last = std::max(trace.last, comm.end);
  return later;
}

// Steps whose number does not follow on the one before, by place.
std::vector<std::size_t> Jumps(const std::vector<StepMark>& steps) {
  std::vector<std::size_t> jumps;
  for (std::size_t i = 1; i < steps.size() && jumps.size() < kMostCuts; ++i) {
    const bool follows = steps[i].number <= steps[i - 1].number + 1;
    if (!follows && steps[i].begin > steps[i - 1].end) jumps.push_back(i);
  }
  return jumps;
}

// When the training thread was in an op, or communication ran that it may have waited for.
IntervalSet ActiveTimes(const RankTrace& trace) {
  IntervalSet active;
  const auto ops = trace.ops_by_thread.find(TrainingThread(trace));
  if (ops != trace.ops_by_thread.end()) {
    for (const Stretch& stretch : ops->second.busy.stretches()) {
      active.Add(stretch.begin, stretch.end);
    }
  }
  for (const CommEvent& comm : trace.comms) active.Add(comm.begin, comm.end);
  active.Seal();
  return active;
}

// The longest time from `begin` to `end` in which nothing was recorded.
std::int64_t LongestPause(const IntervalSet& active, std::int64_t begin, std::int64_t end) {
  const auto& all = active.stretches();
  auto stretch = std::partition_point(all.begin(), all.end(),
                                      [begin](const Stretch& s) { return s.end <= begin; });
  std::int64_t longest = 0;
  std::int64_t since = begin;
  for (; stretch != all.end() && stretch->begin < end; ++stretch) {
    longest = std::max(longest, stretch->begin - since);
    since = stretch->end;
  }
  return std::max(longest, end - since);
}

// Begins of the steps before which the profiler paused.
std::vector<std::int64_t> Cuts(const RankTrace& trace) {
  std::vector<std::int64_t> cuts;
  const std::vector<std::size_t> jumps = Jumps(trace.steps);
  if (jumps.empty()) return cuts;
  const IntervalSet active = ActiveTimes(trace);
  for (const std::size_t i : jumps) {
    const std::int64_t from = trace.steps[i - 1].end, to = trace.steps[i].begin;
    if (2 * LongestPause(active, from, to) > to - from) cuts.push_back(to);
  }
  return cuts;
}

using Ranks = std::vector<std::uint32_t>;

std::string InWords(const Ranks& ranks) {
  if (ranks.size() == 1) return absl::StrCat("rank ", ranks.front());
  if (ranks.size() > kNamed) return absl::StrCat(ranks.size(), " ranks");
  return absl::StrCat("ranks ", absl::StrJoin(ranks, ", "));
}

std::string InWords(const StepRange& window) {
  return window.first == window.last ? absl::StrCat(window.first)
                                     : absl::StrCat(window.first, " to ", window.last);
}

std::string InWords(const std::vector<StepRange>& windows) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(kNamed, windows.size()); ++i) {
    words.push_back(InWords(windows[i]));
  }
  if (windows.size() > kNamed) words.push_back("...");
  return absl::StrCat(windows.size(), " windows of the profiler (steps ",
                      absl::StrJoin(words, ", "), ")");
}

// Ranks with a trace, but none of the window.
Ranks Lacking(const std::vector<RankTrace>& traces, const StepRange& window) {
  std::set<std::uint32_t> all, there;
  for (const RankTrace& trace : traces) {
    all.insert(trace.rank);
    if (Holds(trace, window)) there.insert(trace.rank);
  }
  Ranks lacking;
  std::set_difference(all.begin(), all.end(), there.begin(), there.end(),
                      std::back_inserter(lacking));
  return lacking;
}

}  // namespace

std::vector<RankTrace> CutIntoWindows(RankTrace trace) {
  std::vector<std::int64_t> cuts = Cuts(trace);
  std::vector<RankTrace> windows;
  for (auto cut = cuts.rbegin(); cut != cuts.rend(); ++cut) {
    windows.push_back(TakeFrom(*cut, trace));
  }
  windows.push_back(std::move(trace));
  std::reverse(windows.begin(), windows.end());
  return windows;
}

std::vector<StepRange> WindowsOf(const std::vector<RankTrace>& traces) {
  std::vector<StepRange> ranges;
  for (const RankTrace& trace : traces) {
    if (trace.steps.empty()) continue;
    ranges.push_back({trace.steps.front().number, trace.steps.back().number});
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const StepRange& a, const StepRange& b) { return a.first < b.first; });
  std::vector<StepRange> windows;
  for (const StepRange& range : ranges) {
    if (windows.empty() || range.first > windows.back().last) windows.push_back(range);
    windows.back().last = std::max(windows.back().last, range.last);
  }
  return windows;
}

bool Holds(const RankTrace& trace, const StepRange& window) {
  return !trace.steps.empty() && trace.steps.front().number <= window.last &&
         trace.steps.back().number >= window.first;
}

void TellWindows(const std::vector<RankTrace>& traces, Recording& recording) {
  using Level = diagnosis::SignalState::Level;
  const std::vector<StepRange> windows = WindowsOf(traces);
  if (windows.size() < 2) return;
  Level level = Level::kOn;
  std::string hides = absl::StrCat("what was done between the ", InWords(windows));
  for (const StepRange& window : windows) {
    const Ranks lacking = Lacking(traces, window);
    if (lacking.empty()) continue;
    level = Level::kPartly;
    absl::StrAppend(&hides, "; what ", InWords(lacking), " did in steps ", InWords(window));
  }
  recording.notes.push_back(absl::StrCat(InWords(windows), " are one recording"));
  recording.view.signals.push_back({"windows", level, std::move(hides)});
}

}  // namespace fathom::collector::kineto
