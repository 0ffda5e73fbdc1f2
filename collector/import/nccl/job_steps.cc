#include "collector/import/nccl/job_steps.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/import/reading/repetition.h"
#include "diagnosis/stats/robust.h"

namespace fathom::collector::nccl {
namespace {

using diagnosis::CommOp;
using diagnosis::Median;

// The shared collectives of one rank, in the order in which it ran them.
using Line = std::vector<const CommOp*>;
using Lines = std::map<RankId, Line>;

Lines SharedOps(GroupId world, const diagnosis::JobView& view) {
  std::unordered_map<std::uint64_t, std::size_t> seen;
  std::size_t ranks = 0;
  for (const auto& [rank, rows] : view.rows) {
    ranks += !rows.ops.empty();
    for (const CommOp& op : rows.ops) {
      if (op.group == world && op.sequence != kNoSequence) ++seen[op.sequence.value];
    }
  }
  Lines lines;
  for (const auto& [rank, rows] : view.rows) {
    for (const CommOp& op : rows.ops) {
      const bool shared = op.group == world && op.sequence != kNoSequence;
      if (shared && seen[op.sequence.value] == ranks) lines[rank].push_back(&op);
    }
  }
  return lines;
}

bool SameOrder(const Lines& lines) {
  const Line& first = lines.begin()->second;
  return std::all_of(lines.begin(), lines.end(), [&](const auto& entry) {
    return std::equal(first.begin(), first.end(), entry.second.begin(), entry.second.end(),
                      [](const CommOp* a, const CommOp* b) { return a->sequence == b->sequence; });
  });
}

std::vector<std::uint64_t> KeysOf(const Line& line) {
  std::vector<std::uint64_t> keys;
  std::map<CollectiveKind, std::uint64_t> newest;  // of each kind
  for (const CommOp* op : line) {
    const std::uint64_t number = op->sequence.value / kCollectiveKindCount;
    const std::uint64_t distance = number - std::exchange(newest[op->kind], number);
    std::uint64_t key = op->bytes;
    for (const std::uint64_t part : {distance, static_cast<std::uint64_t>(op->kind)}) {
      key = (key ^ part) * 0x9e3779b97f4a7c15ULL;
    }
    keys.push_back(key ^ (key >> 29));
  }
  return keys;
}

// The first op of the stretch that ends an iteration.
std::size_t BorderOf(const Lines& lines, const Repetition& stretch) {
  std::vector<const Line*> all;
  for (const auto& [rank, line] : lines) all.push_back(&line);
  return FirstBorder(stretch, all.size(), [&](std::size_t line, std::size_t op) {
    return ((*all[line])[op + 1]->arrival() - (*all[line])[op]->end).Seconds();
  });
}

// The time in which at least one op ran, by iteration. Ops are sorted by enter.
std::vector<Nanos> TimeInOps(const std::vector<CommOp>& ops, const std::vector<MonoNs>& borders) {
  std::vector<Nanos> sums(borders.size());
  MonoNs covered = borders.front();
  for (const CommOp& op : ops) {
    MonoNs from = std::max(op.enter, covered);
    covered = std::max(covered, op.end);
    auto after = std::upper_bound(borders.begin(), borders.end(), from);
    for (; after != borders.end() && from < op.end; ++after) {
      const MonoNs to = std::min(op.end, *after);
      sums[static_cast<std::size_t>(after - borders.begin()) - 1] += to - from;
      from = to;
    }
  }
  return sums;
}

void NumberOps(const std::vector<MonoNs>& borders, std::vector<CommOp>& ops) {
  for (CommOp& op : ops) {
    // Behind a border is what ended after it; on it, what ends the iteration before.
    const auto after = std::lower_bound(borders.begin(), borders.end(), op.end);
    if (after == borders.begin() || after == borders.end()) continue;
    op.iteration = Iteration(after - borders.begin() - 1);
  }
}

void AddRank(RankId rank, const std::vector<MonoNs>& borders, Recording& recording) {
  auto& view = recording.view;
  std::vector<CommOp>& ops = view.rows.at(rank).ops;
  NumberOps(borders, ops);
  const std::vector<Nanos> in_ops = TimeInOps(ops, borders);
  std::vector<double> durations;
  for (std::size_t k = 0; k + 1 < borders.size(); ++k) {
    if (view.window.size() <= k) {
      view.window.push_back(
          {Iteration(static_cast<std::int64_t>(k)), WallNs(borders[k].ns), {}, {}});
    }
    diagnosis::RankIteration row;
    row.rank = rank;
    row.begin = borders[k];
    row.duration = borders[k + 1] - borders[k];
    row.blocked = in_ops[k];
    durations.push_back(row.duration.Seconds());
    view.window[k].ranks.push_back(std::move(row));
  }
  diagnosis::RankFacts& facts = FactsOf(recording, rank);
  facts.iterations_seen = static_cast<std::int64_t>(durations.size());
  facts.typical_iteration = Nanos::FromSeconds(Median(std::move(durations)));
}

}  // namespace

void AddIterations(GroupId world, Recording& recording) {
  const Lines lines = SharedOps(world, recording.view);
  if (lines.empty() || !recording.view.window.empty()) return;
  if (!SameOrder(lines)) {
    recording.notes.push_back(
        "ranks ran the collectives of all ranks in different order: there "
        "is nothing to tell iterations by");
    return;
  }
  const Line& first = lines.begin()->second;
  const auto stretch = FindPeriod(KeysOf(first));
  if (!stretch) {
    recording.notes.push_back(absl::StrCat("the ", first.size(),
                                           " collectives of all ranks do not repeat with a period: "
                                           "iterations are not known"));
    return;
  }
  const std::size_t from = BorderOf(lines, *stretch);
  for (const auto& [rank, line] : lines) {
    std::vector<MonoNs> borders;
    for (std::size_t i = from; i < stretch->end; i += stretch->period) {
      borders.push_back(line[i]->end);
    }
    AddRank(rank, borders, recording);
  }
}

}  // namespace fathom::collector::nccl
