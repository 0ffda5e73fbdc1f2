#include "collector/import/kineto/one_run.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/import/kineto/rank_rows.h"
#include "collector/import/reading/rank_name.h"
#include "collector/import/reading/two_jobs.h"

namespace fathom::collector::kineto {
namespace {

std::int64_t BeginOf(const RankTrace& trace) { return TimeOf(trace, trace.first).ns; }
std::int64_t EndOf(const RankTrace& trace) { return TimeOf(trace, trace.last).ns; }

// Containers number their processes alike, so the host counts too. False: perhaps of one.
bool OfTwoProcesses(const RankTrace& a, const RankTrace& b) {
  const std::string& host = a.summary.header.host;
  const std::string& other = b.summary.header.host;
  return (a.process != kAbsent && b.process != kAbsent && a.process != b.process) ||
         (!host.empty() && !other.empty() && host != other);
}

// Why `later` is no further window of what `earlier` recorded; empty: it is one. Requires: it
// begins when `earlier` has ended.
std::string NotGoingOn(const RankTrace& earlier, const RankTrace& later) {
  if (OfTwoProcesses(earlier, later)) return "it is of another process";
  if (earlier.steps.empty() || later.steps.empty()) return "without step marks it has no place";
  if (later.steps.front().number > earlier.steps.back().number) return {};
  return "its steps do not go on from there";
}

// The first window of each trace's process, itself if it is that. Requires: by time.
std::map<const RankTrace*, const RankTrace*> FirstWindows(const std::vector<RankTrace*>& by_time) {
  std::map<const RankTrace*, const RankTrace*> first;
  for (auto trace = by_time.begin(); trace != by_time.end(); ++trace) {
    const auto earlier = std::find_if(by_time.begin(), trace, [&](const RankTrace* other) {
      return other->process != kAbsent && other->process == (*trace)->process &&
             EndOf(*other) <= BeginOf(**trace) && NotGoingOn(*other, **trace).empty();
    });
    first[*trace] = earlier == trace ? *trace : first.at(*earlier);
  }
  return first;
}

void NumberNameless(const std::vector<RankTrace*>& nameless, std::set<std::uint32_t>& taken) {
  std::vector<RankTrace*> by_time = nameless;
  std::stable_sort(by_time.begin(), by_time.end(),
                   [](const auto* a, const auto* b) { return BeginOf(*a) < BeginOf(*b); });
  const auto first = FirstWindows(by_time);
  std::map<const RankTrace*, std::uint32_t> numbers;
  std::uint32_t next = 0;
  for (RankTrace* trace : nameless) {
    const auto [number, fresh] = numbers.try_emplace(first.at(trace), 0);
    if (fresh) {
      while (!taken.insert(next).second) ++next;
      number->second = next;
    }
    trace->rank = number->second;
    trace->rank_guessed = true;
  }
}

void NumberTraces(std::vector<RankTrace>& traces) {
  std::set<std::uint32_t> taken;
  std::vector<RankTrace*> nameless;
  for (RankTrace& trace : traces) {
    const std::int64_t said = trace.summary.header.rank;
    if (said >= 0 && said < std::numeric_limits<std::uint32_t>::max()) {
      trace.rank = static_cast<std::uint32_t>(said);
    } else if (const auto named = RankOfFileName(trace.path)) {
      trace.rank = named->value;
      trace.rank_guessed = true;
    } else {
      nameless.push_back(&trace);
      continue;
    }
    taken.insert(trace.rank);
  }
  NumberNameless(nameless, taken);
}

std::vector<std::string> PathsOf(const std::vector<RankTrace>& traces) {
  std::vector<std::string> paths;
  for (const RankTrace& trace : traces) paths.push_back(trace.path);
  return paths;
}

absl::Status TwoSizes(std::int64_t one, std::int64_t two, const std::vector<RankTrace>& traces) {
  const auto path_of = [&](std::int64_t world) {
    return std::find_if(
               traces.begin(), traces.end(),
               [world](const RankTrace& trace) { return trace.summary.header.world_size == world; })
        ->path;
  };
  return TwoJobs(absl::StrCat("as many traces are of a job of ", one, " ranks as of one of ", two),
                 path_of(one), path_of(two), PathsOf(traces));
}

// The size of the job that most traces tell; kAbsent if none does.
absl::StatusOr<std::int64_t> UsualWorld(const std::vector<RankTrace>& traces) {
  std::map<std::int64_t, std::size_t> votes;
  for (const RankTrace& trace : traces) {
    if (trace.summary.header.world_size > 0) ++votes[trace.summary.header.world_size];
  }
  std::int64_t usual = kAbsent, equal = kAbsent;
  std::size_t most = 0;
  for (const auto& [world, count] : votes) {
    if (count == most) equal = world;
    if (count > most) usual = world, equal = kAbsent, most = count;
  }
  if (equal != kAbsent) return TwoSizes(usual, equal, traces);
  return usual;
}

// Why the trace cannot be part of this job, or empty.
std::string Unfit(const RankTrace& trace, std::int64_t world, const ImportLimits& limits) {
  const std::int64_t own_world = trace.summary.header.world_size;
  if (trace.rank >= limits.ranks || own_world > static_cast<std::int64_t>(limits.ranks)) {
    return absl::StrCat("rank ", trace.rank, " is beyond the limit of ", limits.ranks, " ranks");
  }
  if (own_world > 0 && own_world != world) {
    return absl::StrCat("belongs to a job of ", own_world, " ranks, the others to one of ", world);
  }
  if (trace.summary.events == 0) return "holds no events";
  return {};
}

// Traces of one rank that go on from one another, by time.
struct Run {
  std::vector<RankTrace> windows;
  std::string apart;  // why it is not the one before it

  std::int64_t begin() const { return BeginOf(windows.front()); }
  std::int64_t end() const { return EndOf(windows.back()); }
  // Time in which both recorded; not positive: none.
  std::int64_t Common(const Run& other) const {
    return std::min(end(), other.end()) - std::max(begin(), other.begin());
  }
  bool Meets(const Run& other) const { return Common(other) > 0; }
};

class Chooser {
 public:
  explicit Chooser(Recording& recording) : recording_(recording) {}

  absl::Status Add(std::vector<RankTrace> traces, const ImportLimits& limits) {
    const auto world = UsualWorld(traces);
    if (!world.ok()) return world.status();
    const std::vector<std::string> paths = PathsOf(traces);
    std::stable_sort(traces.begin(), traces.end(), [](const RankTrace& a, const RankTrace& b) {
      return a.rank != b.rank ? a.rank < b.rank : BeginOf(a) < BeginOf(b);
    });
    for (RankTrace& trace : traces) {
      if (const std::string why = Unfit(trace, *world, limits); !why.empty()) {
        LeaveOut(trace, why);
      } else if (absl::Status put = Put(std::move(trace), paths); !put.ok()) {
        return put;
      }
    }
    return absl::OkStatus();
  }

  std::vector<RankTrace> Take() {
    const Run* const chosen = Choose();
    std::vector<RankTrace> kept;
    for (auto& [rank, runs] : runs_) {
      const Run* const own = chosen == nullptr ? &runs.front() : Nearest(runs, *chosen);
      for (Run& run : runs) {
        for (RankTrace& window : run.windows) {
          if (&run == own) {
            TellRank(window.path, rank, recording_);
            kept.push_back(std::move(window));
          } else {
            LeaveOut(window, absl::StrCat("is of another run than the one that is kept",
                                          run.apart.empty() ? "" : ": ", run.apart));
          }
        }
      }
    }
    return kept;
  }

 private:
  // The one that meets `chosen` longest; null: none does.
  static const Run* Nearest(const std::vector<Run>& runs, const Run& chosen) {
    const auto most = std::max_element(runs.begin(), runs.end(), [&](const Run& a, const Run& b) {
      return a.Common(chosen) < b.Common(chosen);
    });
    return most->Meets(chosen) ? &*most : nullptr;
  }

  void LeaveOut(const RankTrace& trace, const std::string& why) {
    recording_.notes.push_back(absl::StrCat(trace.path, ": left out: ", why));
    TellLeftOut(trace.path, why, recording_);
  }

  absl::Status Put(RankTrace trace, const std::vector<std::string>& paths) {
    std::vector<Run>& runs = runs_[trace.rank];
    if (runs.empty()) {
      runs.push_back({});
    } else {
      const RankTrace& before = runs.back().windows.back();
      if (BeginOf(trace) < EndOf(before)) {
        if (OfTwoProcesses(before, trace)) {
          return TwoJobs(
              absl::StrCat("rank ", trace.rank, " has traces of two processes at the same time"),
              before.path, trace.path, paths);
        }
        LeaveOut(trace,
                 absl::StrCat("is a second trace of rank ", trace.rank, ", after ", before.path));
        return absl::OkStatus();
      }
      std::string apart = NotGoingOn(before, trace);
      if (!apart.empty()) runs.push_back({{}, std::move(apart)});
    }
    runs.back().windows.push_back(std::move(trace));
    return absl::OkStatus();
  }

  // The run that most ranks have, of equals the latest; null where no rank has more than one.
  const Run* Choose() const {
    std::vector<const Run*> all;
    for (const auto& [rank, runs] : runs_) {
      for (const Run& run : runs) all.push_back(&run);
    }
    if (all.size() == runs_.size()) return nullptr;
    const Run* best = nullptr;
    std::size_t most = 0;
    for (const Run* run : all) {
      const auto ranks = static_cast<std::size_t>(std::count_if(
          all.begin(), all.end(), [&](const Run* other) { return other->Meets(*run); }));
      if (ranks < most || (ranks == most && run->begin() <= best->begin())) continue;
      best = run;
      most = ranks;
    }
    return best;
  }

  Recording& recording_;
  std::map<std::uint32_t, std::vector<Run>> runs_;  // by rank, each by time
};

}  // namespace

absl::StatusOr<std::vector<RankTrace>> KeepOneRun(std::vector<RankTrace> traces,
                                                  const ImportLimits& limits,
                                                  Recording& recording) {
  NumberTraces(traces);
  Chooser chooser(recording);
  if (absl::Status added = chooser.Add(std::move(traces), limits); !added.ok()) return added;
  return chooser.Take();
}

}  // namespace fathom::collector::kineto
