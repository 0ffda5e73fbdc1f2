#include "tests/diagnosis/job_builder.h"

#include <algorithm>
#include <set>
#include <string>

#include "tests/diagnosis/job_player.h"
#include "tests/diagnosis/job_program.h"

namespace fathom::diagnosis::testing {
namespace {

constexpr std::int64_t kWallOrigin = 1'700'000'000'000'000'000;

// Each rank's clock has its own origin.
Nanos ClockShift(std::uint32_t rank) { return Nanos(std::int64_t{rank} * 7'777'777'777'777); }

void Shift(MonoNs& time, Nanos by) {
  if (time.known()) time = time + by;
}

CommOp AsSeen(const JobSpec& spec, CommOp op, std::uint32_t rank) {
  const Nanos by = ClockShift(rank);
  for (MonoNs* t :
       {&op.enter, &op.api_return, &op.exec_start, &op.end, &op.wait_start, &op.wait_end}) {
    Shift(*t, by);
  }
  if (!spec.waits) op.wait_start = op.wait_end = MonoNs();
  if (!spec.op_cpu) op.cpu_at_enter = op.runqueue_at_enter = Nanos();
  return op;
}

RankRows RowsOf(const JobSpec& spec, const PlayedRank& rank) {
  RankRows rows;
  for (const CommOp& op : rank.ops) rows.ops.push_back(AsSeen(spec, op, rank.rank));
  if (!spec.marks) return rows;
  for (Mark mark : rank.marks) {
    Shift(mark.begin, ClockShift(rank.rank));
    Shift(mark.end, ClockShift(rank.rank));
    rows.marks.push_back(mark);
  }
  return rows;
}

void AddGroups(const PlayedRank& rank, int iteration, RankIteration& out) {
  std::map<GroupId, GroupIteration> groups;
  for (const CommOp& op : rank.ops) {
    if (op.iteration.value != iteration || !op.done()) continue;
    GroupIteration& g = groups[op.group];
    const Nanos elapsed = op.elapsed();
    if (g.count == 0) g.first = elapsed;
    if (op.kind != CollectiveKind::kRecv) {
      g.shortest = g.shortest == Nanos() ? elapsed : std::min(g.shortest, elapsed);
    }
    g.group = op.group;
    ++g.count;
    g.elapsed += elapsed;
    g.longest = std::max(g.longest, elapsed);
    ++out.ops;
  }
  for (const auto& [id, g] : groups) out.groups.push_back(g);
}

RankIteration SummaryOf(const JobSpec& spec, const PlayedRank& rank, std::size_t i) {
  const Clockwork& end = rank.iteration_ends[i];
  Clockwork begin;
  begin.time = 1'000'000'000;
  if (i > 0) begin = rank.iteration_ends[i - 1];
  RankIteration out;
  out.rank = RankId(rank.rank);
  out.begin = MonoNs(begin.time) + ClockShift(rank.rank);
  out.duration = Nanos(end.time - begin.time);
  if (spec.cpu) out.cpu = Nanos(end.cpu - begin.cpu);
  if (spec.cpu) out.runqueue = Nanos(end.runqueue - begin.runqueue);
  if (spec.waits) out.blocked = Nanos(end.blocked - begin.blocked);
  if (spec.marks) out.gc = Nanos(end.gc - begin.gc);
  if (spec.marks) out.dataloader = Nanos(end.loader - begin.loader);
  out.batch_elements = BatchElements(spec, rank.rank, static_cast<int>(i));
  AddGroups(rank, static_cast<int>(i), out);
  return out;
}

std::vector<IterationSummary> WindowOf(const JobSpec& spec, const JobPlayer& player) {
  std::size_t count = ~std::size_t{0};
  for (const PlayedRank& r : player.ranks()) count = std::min(count, r.iteration_ends.size());
  std::vector<IterationSummary> window;
  for (std::size_t i = 0; i < count; ++i) {
    IterationSummary summary;
    summary.index = Iteration(static_cast<std::int64_t>(i));
    const auto& ends = player.ranks().front().iteration_ends;
    summary.begin = WallNs(kWallOrigin + (i == 0 ? 0 : ends[i - 1].time));
    for (const PlayedRank& r : player.ranks()) summary.ranks.push_back(SummaryOf(spec, r, i));
    window.push_back(std::move(summary));
  }
  return window;
}

const Fault* FaultOf(const JobSpec& spec, std::uint32_t rank) {
  for (const Fault& fault : spec.faults) {
    if (fault.rank == rank) return &fault;
  }
  return nullptr;
}

ProcessState StateOf(const JobSpec& spec, const PlayedRank& rank) {
  const Fault* fault = FaultOf(spec, rank.rank);
  if (!rank.hung || fault == nullptr) return ProcessState::kSleeping;
  switch (fault->kind) {
    case FaultKind::kStop:
      return ProcessState::kStopped;
    case FaultKind::kDead:
      return ProcessState::kGone;
    case FaultKind::kLoop:
      return ProcessState::kRunning;
    default:
      return ProcessState::kSleeping;
  }
}

void AddOpen(const JobPlayer& player, const PlayedRank& rank, std::int64_t now, RankFacts& facts) {
  std::map<GroupId, GroupProgress> progress;
  for (const CommOp& op : rank.ops) {
    if (!op.done()) {
      facts.open_ops.push_back({op.group, op.sequence, op.kind, op.data_type, op.bytes, op.peer,
                                Nanos(now - op.enter.ns), true});
    }
    if (IsPointToPoint(op.kind)) continue;
    GroupProgress& p = progress[op.group];
    ++p.entered;
    p.completed += op.done() ? 1 : 0;
  }
  for (const Group& group : player.groups()) {
    const auto& members = group.members;
    if (std::find(members.begin(), members.end(), facts.rank) == members.end()) continue;
    progress[group.id].group = group.id;
    facts.groups.push_back(progress[group.id]);
  }
}

RankFacts FactsOfRank(const JobSpec& spec, const JobPlayer& player, const PlayedRank& rank,
                      std::int64_t now) {
  RankFacts facts;
  facts.rank = RankId(rank.rank);
  facts.node = "node" + std::to_string(rank.rank / spec.ranks_per_node);
  facts.pid = 4000 + rank.rank;
  facts.iterations_seen = static_cast<std::int64_t>(rank.iteration_ends.size());
  facts.typical_iteration = Nanos::FromSeconds(spec.iteration_ms * 1.1e-3);
  facts.state = StateOf(spec, rank);
  if (rank.iteration == spec.iterations) {
    facts.exited_orderly = true;
    facts.state = ProcessState::kGone;
    return facts;
  }
  facts.silent_for = Nanos(now - rank.now.time);
  if (facts.state == ProcessState::kRunning) facts.cpu_while_silent = facts.silent_for;
  if (facts.state != ProcessState::kGone) AddOpen(player, rank, now, facts);
  return facts;
}

}  // namespace

JobView PlayJob(const JobSpec& spec) {
  JobPlayer player(spec);
  player.Play();
  JobView view;
  view.name = "job";
  view.world_size = spec.ranks;
  view.nodes = (spec.ranks + spec.ranks_per_node - 1) / spec.ranks_per_node;
  view.groups = player.groups();
  if (!spec.members) {
    for (Group& group : view.groups) group.members.clear();
  }
  view.window = WindowOf(spec, player);
  std::int64_t now = 0;
  for (const PlayedRank& r : player.ranks()) now = std::max(now, r.now.time);
  now += static_cast<std::int64_t>(spec.stuck_s * 1e9);
  view.now = WallNs(kWallOrigin + now);
  for (const PlayedRank& r : player.ranks()) {
    view.ranks.push_back(FactsOfRank(spec, player, r, now));
    view.rows[RankId(r.rank)] = RowsOf(spec, r);
  }
  return view;
}

JobView After(const JobView& whole, std::size_t iterations) {
  JobView view;
  view.name = whole.name;
  view.world_size = whole.world_size;
  view.nodes = whole.nodes;
  view.now = whole.now;
  view.groups = whole.groups;
  view.ranks = whole.ranks;
  view.signals = whole.signals;
  const bool ended = iterations >= whole.window.size();
  const std::size_t count = std::min(iterations, whole.window.size());
  view.window.assign(whole.window.begin(), whole.window.begin() + static_cast<long>(count));
  if (ended) return view;
  for (RankFacts& facts : view.ranks) {
    facts.state = ProcessState::kRunning;
    facts.exited_orderly = false;
    facts.silent_for = facts.cpu_while_silent = Nanos();
    facts.open_ops.clear();
  }
  return view;
}

void FillRows(const JobView& whole, const RowsWanted& wanted, JobView& view) {
  const std::set<Iteration> iterations(wanted.iterations.begin(), wanted.iterations.end());
  for (RankId rank : wanted.ranks) {
    const auto it = whole.rows.find(rank);
    if (it == whole.rows.end()) continue;
    RankRows& rows = view.rows[rank];
    for (const CommOp& op : it->second.ops) {
      if (iterations.contains(op.iteration)) rows.ops.push_back(op);
    }
    for (const Mark& mark : it->second.marks) {
      if (iterations.contains(mark.iteration)) rows.marks.push_back(mark);
    }
  }
}

}  // namespace fathom::diagnosis::testing
