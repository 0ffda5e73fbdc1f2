#include "collector/import/fathom/whole_job.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "collector/admission/limits.h"
#include "collector/job/rows/row_conversion.h"
#include "collector/job/summaries/one_rate.h"
#include "diagnosis/peers/beside_time.h"
#include "fathom/v1/row.pb.h"
#include "fathom/v1/summary.pb.h"
#include "proto/types/message_anchors.h"

namespace fathom::collector {
namespace {

// An iteration that leaves with its rows must be old: some way behind the newest.
constexpr std::size_t kLeastKept = 2;

void Append(const diagnosis::RankRows& from, diagnosis::RankRows& to) {
  to.ops.insert(to.ops.end(), from.ops.begin(), from.ops.end());
  to.marks.insert(to.marks.end(), from.marks.begin(), from.marks.end());
}

// Wraps where a file says nonsense.
MonoNs Shift(MonoNs time, std::int64_t offset) {
  return MonoNs(static_cast<std::int64_t>(static_cast<std::uint64_t>(time.ns) +
                                          static_cast<std::uint64_t>(offset)));
}

// A mark that spans the border of two messages comes with both.
void PutInOrder(diagnosis::RankRows& rows) {
  std::stable_sort(rows.ops.begin(), rows.ops.end(),
                   [](const auto& a, const auto& b) { return a.enter < b.enter; });
  std::stable_sort(rows.marks.begin(), rows.marks.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
  const auto same = [](const diagnosis::Mark& a, const diagnosis::Mark& b) {
    return a.begin == b.begin && a.kind == b.kind && a.thread == b.thread;
  };
  rows.marks.erase(std::unique(rows.marks.begin(), rows.marks.end(), same), rows.marks.end());
}

}  // namespace

void WholeJob::SetClock(RankId rank, std::int64_t mono_to_wall_ns) {
  auto& known = ranks_[rank].mono_to_wall;
  if (!known) known = mono_to_wall_ns;
}

std::int64_t WholeJob::JobIteration(RankId rank, std::int64_t own) const {
  const auto at = ranks_.find(rank);
  if (own < 0 || own > kMaxAnchorStep || at == ranks_.end() || !at->second.offset) return -1;
  return std::max<std::int64_t>(-1, own + *at->second.offset);
}

void WholeJob::Add(const v1::SummaryBatch& batch) {
  const RankId rank(batch.rank());
  Placed& placed = ranks_[rank];
  if (batch.period_relearned()) placed.offset.reset();
  by_messages_ = by_messages_ || batch.anchor_group() == kMessageAnchors.value;
  const std::vector<std::int64_t> steps(batch.anchor_step().begin(), batch.anchor_step().end());
  const auto numbers = aligner_.Place({batch.anchor_group(), batch.first_anchor_sequence(),
                                       batch.first_iteration(), steps, placed.offset});
  const std::int64_t newest = window_.empty() ? -1 : window_.rbegin()->first;
  MonoNs begin(batch.first_begin_mono_ns());
  for (int i = 0; i < batch.duration_us_size(); ++i) {
    const std::int64_t iteration = numbers[static_cast<std::size_t>(i)];
    const auto row = ToRankIteration(batch, i, begin);
    begin = begin + row.duration;
    if (newest >= 0 && iteration > newest + kMaxIterationJump) return;
    if (iteration < 0 || iteration < forgotten_) continue;
    placed.offset = iteration - (batch.first_iteration() + i);
    auto& summary = window_[iteration];
    summary.index = Iteration(iteration);
    if (!summary.begin.known()) summary.begin = WallNs(row.begin.ns + batch.mono_to_wall_ns());
    const auto at = std::lower_bound(summary.ranks.begin(), summary.ranks.end(), rank,
                                     [](const auto& r, RankId wanted) { return r.rank < wanted; });
    if (at != summary.ranks.end() && at->rank == rank) continue;  // a repeat
    summary.ranks.insert(at, row);
    summary.issued += ToIssueLatency(batch, i);
    const FlopByClass flop = ToFlop(batch, i);
    for (std::size_t which = 0; which < kFlopClasses; ++which) summary.flop[which] += flop[which];
    ++summaries_;
  }
  ForgetOldest();
}

void WholeJob::Add(const v1::RankRows& rows) {
  const RankId rank(rows.rank());
  for (const auto& op : rows.ops()) {
    const std::int64_t iteration = JobIteration(rank, op.iteration());
    if (iteration >= 0 && iteration < forgotten_) continue;
    rows_[iteration][rank].ops.push_back(ToCommOp(op, Iteration(iteration)));
    ++ops_;
  }
  for (const auto& mark : rows.marks()) {
    const std::int64_t iteration = JobIteration(rank, mark.iteration());
    const auto converted = ToMark(mark, Iteration(iteration));
    if (converted && iteration >= forgotten_) rows_[iteration][rank].marks.push_back(*converted);
  }
  ForgetOldest();
}

void WholeJob::ForgetOldest() {
  while ((summaries_ > kMaxSummaries || ops_ > kMaxRows) && window_.size() > kLeastKept) {
    const auto oldest = window_.begin();
    forgotten_ = oldest->first + 1;
    summaries_ -= oldest->second.ranks.size();
    window_.erase(oldest);
    while (!rows_.empty() && rows_.begin()->first < forgotten_) {
      for (const auto& [rank, rows] : rows_.begin()->second) ops_ -= rows.ops.size();
      rows_.erase(rows_.begin());
    }
  }
}

void WholeJob::Clear() { *this = WholeJob(); }

std::map<RankId, diagnosis::RankRows> WholeJob::Rows(const diagnosis::RowsWanted& wanted) const {
  ByRank out;
  std::set<std::int64_t> iterations;
  for (const Iteration iteration : wanted.iterations) iterations.insert(iteration.value);
  for (const std::int64_t iteration : iterations) {
    const auto at = rows_.find(iteration);
    if (at == rows_.end()) continue;
    for (const RankId rank : wanted.ranks) {
      const auto rows = at->second.find(rank);
      if (rows != at->second.end()) Append(rows->second, out[rank]);
    }
  }
  for (auto& [rank, rows] : out) PutInOrder(rows);
  return out;
}

void WholeJob::ToWall(RankId rank, diagnosis::RankRows& rows) const {
  const auto at = ranks_.find(rank);
  const std::int64_t offset = at == ranks_.end() ? 0 : at->second.mono_to_wall.value_or(0);
  const auto shift = [offset](MonoNs& time) {
    if (time.known()) time = Shift(time, offset);
  };
  for (diagnosis::CommOp& op : rows.ops) {
    for (MonoNs* time :
         {&op.enter, &op.api_return, &op.exec_start, &op.end, &op.wait_start, &op.wait_end}) {
      shift(*time);
    }
  }
  for (diagnosis::Mark& mark : rows.marks) shift(mark.begin), shift(mark.end);
}

void WholeJob::TakeInto(diagnosis::JobView& view) {
  view.window.clear();
  for (auto& [index, summary] : window_) {
    for (diagnosis::RankIteration& row : summary.ranks) {
      const auto at = ranks_.find(row.rank);
      row.begin = Shift(row.begin, at->second.mono_to_wall.value_or(0));
    }
    diagnosis::SettleBlocked(view.groups, summary);
    view.window.push_back(std::move(summary));
  }
  if (by_messages_) KeepOneRate(view.window);
  view.rows.clear();
  for (auto& [iteration, ranks] : rows_) {
    for (auto& [rank, rows] : ranks) Append(rows, view.rows[rank]);
    ranks.clear();
  }
  for (auto& [rank, rows] : view.rows) {
    PutInOrder(rows);
    ToWall(rank, rows);
  }
  view.iterations_seen = view.window.empty() ? 0 : view.window.back().index.value + 1;
}

}  // namespace fathom::collector
