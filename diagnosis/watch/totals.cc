#include "diagnosis/watch/totals.h"

#include <algorithm>
#include <array>
#include <limits>

#include "diagnosis/model/lookup.h"
#include "diagnosis/model/rank_times.h"
#include "diagnosis/watch/group_levels.h"

namespace fathom::diagnosis {
namespace {

// `entry`: of the rank's first group.
void Add(const RankIteration& rank, const GroupLevels& levels, std::size_t entry, RankTotals& sum) {
  const Nanos busy = BusyOf(rank);
  const Nanos cpu = std::min(busy, rank.duration);
  const Nanos blocked = std::min(rank.blocked, rank.duration - cpu);
  sum.compute += cpu;
  sum.non_compute += blocked;
  sum.idle += rank.duration - cpu - blocked;
  Nanos late, wait;
  for (const GroupIteration& g : rank.groups) {
    const GroupLevel& level = levels.Of(entry++);
    sum.communication += g.elapsed;
    wait += g.elapsed - level.shortest;
    late = std::max(late, level.median - g.elapsed);
  }
  // Ops that were in flight together add up to more than there was.
  sum.wait += std::min(wait, rank.duration);
  sum.late += std::min(late, rank.duration);
}

// Of the rank, with a place for it where it has none; `place`: where it most likely is.
RankTotals& SumOf(std::vector<RankTotals>& sums, RankId rank, std::size_t place) {
  if (place < sums.size() && sums[place].rank == rank) return sums[place];
  const auto at = std::lower_bound(sums.begin(), sums.end(), rank,
                                   [](const RankTotals& s, RankId id) { return s.rank < id; });
  if (at != sums.end() && at->rank == rank) return *at;
  RankTotals sum;
  sum.rank = rank;
  return *sums.insert(at, sum);
}

std::vector<RankTotals> TotalsOfWindow(const JobView& view) {
  std::vector<RankTotals> sums;
  GroupLevels levels;
  for (const IterationSummary& iteration : view.window) {
    levels.Learn(iteration);
    std::size_t entry = 0, place = 0;
    for (const RankIteration& rank : iteration.ranks) {
      Add(rank, levels, entry, SumOf(sums, rank.rank, place++));
      entry += rank.groups.size();
    }
  }
  for (RankTotals& sum : sums) {
    if (const RankFacts* facts = FactsOf(view, sum.rank)) sum.node = facts->node;
    const double communication = sum.communication.Seconds();
    if (communication <= 0) continue;
    sum.overlap_ratio = std::clamp(1 - sum.non_compute.Seconds() / communication, 0.0, 1.0);
  }
  return sums;
}

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

}  // namespace

std::vector<RankTotals> TotalsOf(const JobView& view) {
  return view.schedule.empty() ? TotalsOfWindow(view) : TotalsOfSchedule(view.schedule);
}

}  // namespace fathom::diagnosis
