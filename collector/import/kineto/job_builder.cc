#include "collector/import/kineto/job_builder.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "collector/import/kineto/group_names.h"
#include "collector/import/kineto/guessed_nodes.h"
#include "collector/import/kineto/local_steps.h"
#include "collector/import/kineto/rank_rows.h"
#include "collector/import/kineto/windows.h"
#include "collector/import/reading/op_summaries.h"
#include "collector/import/reading/rank_name.h"

namespace fathom::collector::kineto {
namespace {

using diagnosis::CommOp;
using Level = diagnosis::SignalState::Level;
using Steps = std::map<std::int64_t, diagnosis::IterationSummary>;  // by number

// Ops at the edges of a trace that some members recorded and others did not.
constexpr double kTolerated = 0.2;

Level LevelOf(std::size_t have, std::size_t of) {
  return have == 0 ? Level::kOff : have < of ? Level::kPartly : Level::kOn;
}

void AddSignal(Recording& recording, std::string name, Level level, std::string hides) {
  for (auto& signal : recording.view.signals) {
    if (signal.name != name) continue;
    signal.level = std::max(signal.level, level);
    return;
  }
  recording.view.signals.push_back({std::move(name), level, std::move(hides)});
}

void AddGroups(const RankTrace& trace, bool guessed, Recording& recording) {
  for (const auto& [name, from] : trace.groups) {
    diagnosis::Group& group = GroupOf(recording, name);
    Describe(from.description, group);
    if (group.size == 0) group.size = from.size;
    group.guessed = group.guessed || guessed;
    std::vector<RankId> members(from.ranks.begin(), from.ranks.end());
    if (group.members.empty()) {
      group.members = std::move(members);
    } else if (!members.empty() && members != group.members) {
      recording.notes.push_back(absl::StrCat(trace.path, ": says other members of group ", name,
                                             " than the traces before it; those are kept"));
    }
  }
  if (!trace.groups.empty() || !guessed) return;
  diagnosis::Group& all = GroupOf(recording, kGroupOfAll);
  all.size = recording.view.world_size;
  all.guessed = true;
}

// Of a job that is here whole the guessed group of all ranks is known.
void NameAll(diagnosis::JobView& view) {
  for (diagnosis::Group& group : view.groups) {
    const bool whole = group.guessed && group.name == kGroupOfAll && group.members.empty() &&
                       group.size == view.ranks.size();
    if (!whole) continue;
    for (const diagnosis::RankFacts& facts : view.ranks) group.members.push_back(facts.rank);
    std::sort(group.members.begin(), group.members.end());
  }
}

void AddFacts(const RankTrace& trace, const RankIterations& read, Recording& recording) {
  diagnosis::RankFacts& facts = FactsOf(recording, RankId(trace.rank));
  if (facts.node.empty()) facts.node = trace.summary.header.host;
  facts.iterations_seen =
      std::max(facts.iterations_seen, static_cast<std::int64_t>(read.iterations.size()));
  if (read.iterations.empty()) return;
  std::vector<Nanos> durations;
  for (const auto& [number, iteration] : read.iterations) durations.push_back(iteration.duration);
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  facts.typical_iteration = *middle;
}

void NoteDefects(const RankTrace& trace, const RankIterations& read, Recording& recording) {
  const auto note = [&](auto&&... parts) {
    recording.notes.push_back(absl::StrCat(trace.path, ": ", parts...));
  };
  const ReadSummary& summary = trace.summary;
  if (summary.truncated) note("ends early, at byte ", summary.bytes, "; read as far as it goes");
  if (read.steps_in_part > 0) {
    note(read.steps_in_part, read.steps_in_part == 1 ? " iteration is" : " iterations are",
         " there in part only, what other threads did is lost; left out");
  }
  if (summary.skipped > 0) {
    note(summary.skipped, " events could not be parsed and were skipped, the first at byte ",
         summary.first_skipped_at);
  }
  if (trace.rank_guessed) {
    note("names no rank; taken for rank ", trace.rank,
         RankOfFileName(trace.path) ? " by its name" : ", by the order of their names");
  }
  if (read.iterations.empty() && read.steps_in_part == 0)
    note("no ProfilerStep marks: its iterations are not known");
  if (read.unnamed_ops > 0) {
    note(read.unnamed_ops,
         " communication ops name no group and none could be told; a Flight "
         "Recorder dump of the run would");
  }
  if (read.runs_without_call > 0) {
    note(read.runs_without_call, " communication runs have no call in the trace");
  }
}

// The traces of each window; all together where no steps are told.
std::vector<std::vector<const RankTrace*>> ByWindow(const std::vector<RankTrace>& traces) {
  const std::vector<StepRange> windows = WindowsOf(traces);
  std::vector<std::vector<const RankTrace*>> out(std::max<std::size_t>(windows.size(), 1));
  for (const RankTrace& trace : traces) {
    if (windows.empty()) out.front().push_back(&trace);
    for (std::size_t i = 0; i < windows.size(); ++i) {
      if (Holds(trace, windows[i])) out[i].push_back(&trace);
    }
  }
  return out;
}

// Traces of one window overlap in time, if their clocks agree.
void NoteClocks(const std::vector<const RankTrace*>& traces, Recording& recording) {
  std::int64_t latest_begin = 0, earliest_end = 0;
  bool first = true;
  for (const RankTrace* trace : traces) {
    const std::int64_t begin = TimeOf(*trace, trace->first).ns;
    const std::int64_t end = TimeOf(*trace, trace->last).ns;
    latest_begin = first ? begin : std::max(latest_begin, begin);
    earliest_end = first ? end : std::min(earliest_end, end);
    first = false;
  }
  if (latest_begin <= earliest_end) return;
  recording.notes.push_back(
      absl::StrCat("the traces do not overlap in time, by ",
                   static_cast<double>(latest_begin - earliest_end) * 1e-9,
                   " s: clocks apart, or not one run; only durations are compared"));
}

void NoteSteps(const std::map<std::uint32_t, std::set<std::int64_t>>& steps, Recording& recording) {
  std::size_t fewest = ~std::size_t{0}, most = 0;
  for (const auto& [rank, numbers] : steps) {
    fewest = std::min(fewest, numbers.size());
    most = std::max(most, numbers.size());
  }
  if (steps.empty() || fewest == most) return;
  recording.notes.push_back(absl::StrCat("ranks hold different numbers of iterations, ", fewest,
                                         " to ", most, "; each is compared where it has them"));
}

void AddWindow(Steps by_number, Recording& recording) {
  auto& window = recording.view.window;
  if (!window.empty()) return;  // another format has told the iterations
  for (auto& [number, summary] : by_number) {
    summary.index = Iteration(number);
    summary.begin = WallNs(summary.ranks.front().begin.ns);
    window.push_back(std::move(summary));
  }
}

void AddWorld(const std::vector<RankTrace>& traces, Recording& recording) {
  std::set<std::string> hosts;
  std::uint32_t world = recording.view.world_size;
  for (const RankTrace& trace : traces) {
    hosts.insert(trace.summary.header.host);
    world = std::max(world, trace.rank + 1);
    if (trace.summary.header.world_size > 0) {
      world = std::max(world, static_cast<std::uint32_t>(trace.summary.header.world_size));
    }
  }
  recording.view.world_size = world;
  recording.view.nodes = std::max(recording.view.nodes, static_cast<std::uint32_t>(hosts.size()));
}

struct Counts {
  std::size_t with_steps = 0, with_ops = 0, with_groups = 0, with_marks = 0, on_device = 0;
  std::size_t with_functions = 0;
};

void AddSignals(const Counts& counts, std::size_t ranks, Recording& recording) {
  const std::size_t world = recording.view.world_size;
  AddSignal(recording, "ranks", LevelOf(ranks, world), "whatever happens on ranks without a trace");
  AddSignal(recording, "summaries", LevelOf(counts.with_steps, world),
            "iterations, and whether the job is slow");
  AddSignal(recording, "process_health", Level::kOff, "stopped, dead and starved processes");
  AddSignal(recording, "communicators", LevelOf(counts.with_groups, world), "who waits for whom");
  AddSignal(recording, "communication_ops", LevelOf(counts.with_ops, world),
            "who came late to an op");
  AddSignal(recording, "python_marks", LevelOf(counts.with_marks, world),
            "garbage collection and data loading as causes");
  AddSignal(recording, "python_functions", LevelOf(counts.with_functions, world),
            "which function a slow host was in");
  AddSignal(recording, "gpu_times", LevelOf(counts.on_device, world),
            "slow kernels, and late launches from slow GPUs");
}

// What a member did on a group: equal on all members wherever the guess is right.
using Deeds = std::map<Sequence, std::pair<CollectiveKind, std::uint64_t>>;

// Iterations that some ranks recorded and others did not: what was done there proves nothing.
std::set<Iteration> NotShared(const diagnosis::JobView& view, const Steps& steps) {
  std::set<Iteration> lacking;
  for (const auto& [number, iteration] : steps) {
    if (iteration.ranks.size() < view.rows.size()) lacking.insert(Iteration(number));
  }
  return lacking;
}

std::map<GroupId, std::map<RankId, Deeds>> DeedsOnGuessed(const diagnosis::JobView& view,
                                                          const std::set<Iteration>& without) {
  std::map<GroupId, std::map<RankId, Deeds>> deeds;
  for (const auto& group : view.groups) {
    if (group.guessed) deeds[group.id];
  }
  for (const auto& [rank, rows] : view.rows) {
    for (const CommOp& op : rows.ops) {
      const auto at = deeds.find(op.group);
      if (at == deeds.end() || op.sequence == kNoSequence) continue;
      if (without.contains(op.iteration)) continue;
      // What members of an all-to-all receive may differ.
      const bool uneven = op.kind == CollectiveKind::kAllToAll;
      at->second[rank][op.sequence] = {op.kind, uneven ? 0 : op.bytes};
    }
  }
  return deeds;
}

bool Contradict(const std::map<RankId, Deeds>& members) {
  std::map<std::pair<Sequence, std::pair<CollectiveKind, std::uint64_t>>, std::size_t> seen;
  for (const auto& [rank, deeds] : members) {
    for (const auto& deed : deeds) ++seen[{deed.first, deed.second}];
  }
  std::size_t lonely = 0;
  for (const auto& [deed, count] : seen) lonely += count < members.size();
  return static_cast<double>(lonely) > kTolerated * static_cast<double>(seen.size());
}

// A guess on which the members disagree is no guess: its ops then belong to no known group.
void DropContradictions(const Steps& steps, Recording& recording) {
  const std::set<Iteration> without = NotShared(recording.view, steps);
  for (const auto& [id, members] : DeedsOnGuessed(recording.view, without)) {
    if (members.size() < 2 || !Contradict(members)) continue;
    for (auto& [rank, rows] : recording.view.rows) {
      for (CommOp& op : rows.ops) {
        if (op.group == id && op.sequence != kNoSequence) op.group = GroupId();
      }
    }
    for (const auto& group : recording.view.groups) {
      if (group.id != id) continue;
      recording.notes.push_back(
          absl::StrCat("which ops belong to group ", group.name,
                       " cannot be told from the traces; a Flight Recorder dump of the run would"));
    }
  }
}

void Count(bool on_device, const RankIterations& read, Counts& counts) {
  counts.with_steps += !read.iterations.empty();
  counts.with_ops += !read.rows.ops.empty();
  counts.with_groups += !read.rows.ops.empty() && read.unnamed_ops < read.rows.ops.size();
  counts.with_marks += !read.rows.marks.empty();
  counts.with_functions += !read.rows.functions.empty();
  counts.on_device += on_device;
}

void JoinSteps(Steps& by_number, Recording& recording) {
  const std::int64_t joined = JoinLocalSteps(by_number, recording.view);
  if (joined <= 1) return;
  recording.notes.push_back(
      absl::StrCat("ranks communicate in one of ", joined, " steps: so many are one iteration"));
}

using TraceAt = std::vector<RankTrace>::const_iterator;

// The windows of one rank as one.
RankIterations ReadWindows(TraceAt first, TraceAt last, Recording& recording) {
  RankIterations all;
  for (TraceAt trace = first; trace != last; ++trace) {
    RankIterations read = ReadRank(*trace);
    AddGroups(*trace, read.guessed_groups, recording);
    NoteDefects(*trace, read, recording);
    recording.view.now = std::max(recording.view.now, WallNs(TimeOf(*trace, trace->last).ns));
    if (trace == first) {
      all = std::move(read);
    } else {
      Append(std::move(read), all);
    }
  }
  return all;
}

}  // namespace

void AddTraces(const std::vector<RankTrace>& traces, Recording& recording) {
  Counts counts;
  Steps by_number;
  std::map<std::uint32_t, std::set<std::int64_t>> steps;
  std::size_t ranks = 0;
  AddWorld(traces, recording);
  for (auto first = traces.begin(); first != traces.end(); ++ranks) {
    const auto last = std::find_if(
        first, traces.end(), [&](const RankTrace& trace) { return trace.rank != first->rank; });
    RankIterations read = ReadWindows(first, last, recording);
    AddFacts(*first, read, recording);
    Count(std::any_of(first, last, [](const auto& trace) { return trace.on_device(); }), read,
          counts);
    for (auto& [number, iteration] : read.iterations) {
      by_number[number].ranks.push_back(std::move(iteration));
      steps[first->rank].insert(number);
    }
    recording.view.rows[RankId(first->rank)] = std::move(read.rows);
    recording.tables.push_back(std::move(read.tables));
    first = last;
  }
  NameAll(recording.view);
  GuessNodes(traces, recording);
  for (const auto& window : ByWindow(traces)) NoteClocks(window, recording);
  NoteSteps(steps, recording);
  DropContradictions(by_number, recording);
  JoinSteps(by_number, recording);
  AddWindow(std::move(by_number), recording);
  SummariseOps(recording.view);
  AddSignals(counts, ranks, recording);
}

}  // namespace fathom::collector::kineto
