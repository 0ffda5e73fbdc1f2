#include "diagnosis/engine/totals.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

struct GroupLevel {
  Nanos shortest;
  Nanos median;
};

std::map<GroupId, GroupLevel> LevelsOf(const IterationSummary& iteration) {
  std::map<GroupId, std::vector<double>> elapsed;
  for (const RankIteration& rank : iteration.ranks) {
    for (const GroupIteration& g : rank.groups) elapsed[g.group].push_back(g.elapsed.Seconds());
  }
  std::map<GroupId, GroupLevel> levels;
  for (auto& [group, values] : elapsed) {
    const double least = *std::min_element(values.begin(), values.end());
    levels[group] = {Nanos::FromSeconds(least), Nanos::FromSeconds(Median(std::move(values)))};
  }
  return levels;
}

void Add(const RankIteration& rank, const std::map<GroupId, GroupLevel>& levels, RankTotals& sum) {
  const Nanos busy = rank.device.count > 0 ? rank.device : rank.cpu;
  const Nanos cpu = std::min(busy, rank.duration);
  const Nanos blocked = std::min(rank.blocked, rank.duration - cpu);
  sum.compute += cpu;
  sum.idle += blocked;
  sum.non_compute += rank.duration - cpu - blocked;
  Nanos late;
  for (const GroupIteration& g : rank.groups) {
    const GroupLevel& level = levels.at(g.group);
    sum.communication += g.elapsed;
    sum.wait += g.elapsed - level.shortest;
    late = std::max(late, level.median - g.elapsed);
  }
  sum.late += late;
}

}  // namespace

std::vector<RankTotals> TotalsOf(const JobView& view) {
  std::map<RankId, RankTotals> sums;
  for (const IterationSummary& iteration : view.window) {
    const auto levels = LevelsOf(iteration);
    for (const RankIteration& rank : iteration.ranks) Add(rank, levels, sums[rank.rank]);
  }
  for (const RankFacts& facts : view.ranks) {
    if (const auto it = sums.find(facts.rank); it != sums.end()) it->second.node = facts.node;
  }
  std::vector<RankTotals> out;
  for (auto& [rank, sum] : sums) {
    sum.rank = rank;
    const double communication = sum.communication.Seconds();
    if (communication > 0) {
      sum.overlap_ratio = std::clamp(1 - sum.idle.Seconds() / communication, 0.0, 1.0);
    }
    out.push_back(sum);
  }
  return out;
}

namespace {

struct Covered {
  double computing = 0;
  double communicating = 0;  // and not computing
  double wait = 0;
  double communication = 0;
};

// Requires: `ops` of one worker in one step, by start; `shortest` of each kind on that worker.
Covered CoveredBy(const ScheduledOp* begin, const ScheduledOp* end,
                  const std::array<double, kOpKinds>& shortest) {
  Covered out;
  double computed_to = 0;
  double covered_to = 0;
  double covered = 0;
  for (const ScheduledOp* op = begin; op != end; ++op) {
    const double ends = op->start_s + op->duration_s;
    covered += std::max(0.0, ends - std::max(covered_to, op->start_s));
    covered_to = std::max(covered_to, ends);
    if (IsCompute(op->kind) || op->kind == OpKind::kOptimizer) {
      out.computing += std::max(0.0, ends - std::max(computed_to, op->start_s));
      computed_to = std::max(computed_to, ends);
    } else {
      out.communication += op->duration_s;
      out.wait += op->duration_s - shortest[static_cast<std::size_t>(op->kind)];
    }
  }
  out.communicating = std::max(0.0, covered - out.computing);
  return out;
}

std::vector<std::array<double, kOpKinds>> ShortestOps(const ScheduleTrace& trace) {
  std::array<double, kOpKinds> none;
  none.fill(std::numeric_limits<double>::infinity());
  std::vector<std::array<double, kOpKinds>> shortest(trace.workers.size(), none);
  for (const ScheduledOp& op : trace.ops) {
    double& least = shortest[op.worker][static_cast<std::size_t>(op.kind)];
    least = std::min(least, op.duration_s);
  }
  return shortest;
}

}  // namespace

std::vector<RankTotals> TotalsOfSchedule(const ScheduleTrace& trace) {
  const auto shortest = ShortestOps(trace);
  std::vector<double> step_s(trace.steps.size());
  for (const ScheduledOp& op : trace.ops) {
    step_s[op.step] = std::max(step_s[op.step], op.start_s + op.duration_s);
  }
  std::vector<RankTotals> out(trace.workers.size());
  for (std::size_t w = 0; w < out.size(); ++w) out[w].rank = trace.workers[w].rank;
  for (std::size_t i = 0, last = 0; i < trace.ops.size(); i = last) {
    const ScheduledOp& first = trace.ops[i];
    while (last < trace.ops.size() && trace.ops[last].step == first.step &&
           trace.ops[last].worker == first.worker) {
      ++last;
    }
    const Covered covered =
        CoveredBy(trace.ops.data() + i, trace.ops.data() + last, shortest[first.worker]);
    RankTotals& sum = out[first.worker];
    sum.compute += Nanos::FromSeconds(covered.computing);
    sum.non_compute += Nanos::FromSeconds(covered.communicating);
    sum.communication += Nanos::FromSeconds(covered.communication);
    sum.wait += Nanos::FromSeconds(covered.wait);
    sum.idle += Nanos::FromSeconds(
        std::max(0.0, step_s[first.step] - covered.computing - covered.communicating));
  }
  for (RankTotals& sum : out) {
    const double communication = sum.communication.Seconds();
    if (communication <= 0) continue;
    sum.overlap_ratio = std::clamp(1 - sum.non_compute.Seconds() / communication, 0.0, 1.0);
  }
  std::sort(out.begin(), out.end(),
            [](const RankTotals& a, const RankTotals& b) { return a.rank < b.rank; });
  return out;
}

}  // namespace fathom::diagnosis
