#include "collector/import/kineto/record_join.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/import/reading/op_summaries.h"

namespace fathom::collector::kineto {
namespace {

using diagnosis::CommOp;
using diagnosis::EnteredOp;
using Ops = std::vector<CommOp*>;

// Between the clock reading of the profiler and that of the recorder, around the same call.
constexpr std::int64_t kSlack = 200'000;

bool Inside(const CommOp& op, const EnteredOp& entry) {
  return entry.created.ns >= op.enter.ns - kSlack && entry.created.ns <= op.api_return.ns + kSlack;
}

bool Agrees(const CommOp& op, const EnteredOp& entry) {
  return Inside(op, entry) && (entry.kind == op.kind || entry.kind == CollectiveKind::kUnknown ||
                               op.kind == CollectiveKind::kReduceScatter);
}

struct Alignment {
  std::ptrdiff_t offset = 0;  // entry of the first op
  std::size_t agreeing = 0;
};

std::size_t CountAgreeing(const Ops& ops, const std::vector<EnteredOp>& entries,
                          std::ptrdiff_t offset) {
  std::size_t agreeing = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::ptrdiff_t at = offset + static_cast<std::ptrdiff_t>(i);
    if (at < 0 || at >= static_cast<std::ptrdiff_t>(entries.size())) continue;
    agreeing += Agrees(*ops[i], entries[static_cast<std::size_t>(at)]);
  }
  return agreeing;
}

// The offset is the same for all ops; a few of them, by time, are enough to propose it.
Alignment Align(const Ops& ops, const std::vector<EnteredOp>& entries) {
  Alignment best;
  std::set<std::ptrdiff_t> tried;
  for (const std::size_t i : {ops.size() - 1, ops.size() / 2, std::size_t{0}}) {
    const auto from = std::partition_point(
        entries.begin(), entries.end(),
        [&](const EnteredOp& entry) { return entry.created.ns < ops[i]->enter.ns - kSlack; });
    for (auto at = from; at != entries.end() && Inside(*ops[i], *at); ++at) {
      const std::ptrdiff_t offset = (at - entries.begin()) - static_cast<std::ptrdiff_t>(i);
      if (!tried.insert(offset).second) continue;
      const std::size_t agreeing = CountAgreeing(ops, entries, offset);
      if (agreeing > best.agreeing) best = {offset, agreeing};
    }
  }
  return best;
}

Ops Collectives(diagnosis::RankRows& rows, const std::set<GroupId>& guessed) {
  Ops ops;
  for (CommOp& op : rows.ops) {
    const bool open = op.group == GroupId() || guessed.contains(op.group);
    if (!IsPointToPoint(op.kind) && open) ops.push_back(&op);
  }
  return ops;
}

// The calls of each window of the profiler: what ran between two of them is in the dump only.
std::vector<Ops> ByWindow(const Ops& ops) {
  std::set<std::int64_t> iterations;
  for (const CommOp* op : ops) {
    if (op->iteration.value >= 0) iterations.insert(op->iteration.value);
  }
  std::int64_t stride = 1;  // of iterations that are several steps
  for (auto it = iterations.begin(); it != iterations.end() && std::next(it) != iterations.end();
       ++it) {
    const std::int64_t step = *std::next(it) - *it;
    stride = it == iterations.begin() ? step : std::min(stride, step);
  }
  std::vector<Ops> windows;
  std::int64_t latest = -1;
  for (CommOp* op : ops) {
    const std::int64_t number = op->iteration.value;
    if (windows.empty() || (latest >= 0 && number > latest + stride)) windows.push_back({});
    windows.back().push_back(op);
    if (number >= 0) latest = number;
  }
  return windows;
}

void Name(const Ops& ops, const std::vector<EnteredOp>& entries, std::ptrdiff_t offset) {
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::ptrdiff_t at = offset + static_cast<std::ptrdiff_t>(i);
    const bool known = at >= 0 && at < static_cast<std::ptrdiff_t>(entries.size());
    // A sequence that was made up must not meet one of the dump.
    ops[i]->group = known ? entries[static_cast<std::size_t>(at)].group : GroupId();
    ops[i]->sequence = known ? entries[static_cast<std::size_t>(at)].sequence : kNoSequence;
  }
}

// False: the dump does not fit the trace.
bool JoinRank(diagnosis::RankRows& rows, const diagnosis::RankRecord& record,
              const std::set<GroupId>& guessed) {
  const Ops ops = Collectives(rows, guessed);
  if (ops.empty()) return true;
  std::vector<EnteredOp> entries;
  for (const EnteredOp& entry : record.ops) {
    if (!IsPointToPoint(entry.kind)) entries.push_back(entry);
  }
  if (entries.empty()) return false;
  const std::vector<Ops> windows = ByWindow(ops);
  std::vector<Alignment> found;
  std::size_t agreeing = 0;
  for (const Ops& window : windows) {
    found.push_back(Align(window, entries));
    agreeing += found.back().agreeing;
  }
  if (static_cast<double>(agreeing) < kEnough * static_cast<double>(ops.size())) return false;
  for (std::size_t i = 0; i < windows.size(); ++i) Name(windows[i], entries, found[i].offset);
  return true;
}

}  // namespace

void JoinRecords(Recording& recording) {
  std::map<RankId, const diagnosis::RankRecord*> records;
  for (const auto& record : recording.view.records) {
    if (!record.ops.empty()) records[record.rank] = &record;
  }
  if (records.empty() || recording.view.rows.empty()) return;
  std::set<GroupId> guessed;
  for (const auto& group : recording.view.groups) {
    if (group.guessed) guessed.insert(group.id);
  }
  // All or none: ranks with sequences of the dump and ranks with made-up ones would never meet.
  std::map<RankId, diagnosis::RankRows> joined = recording.view.rows;
  for (auto& [rank, rows] : joined) {
    const auto record = records.find(rank);
    if (record != records.end() && JoinRank(rows, *record->second, guessed)) continue;
    if (guessed.empty()) return;
    recording.notes.push_back(
        absl::StrCat("rank ", rank.value, ": no dump fits its trace; groups stay guessed"));
    return;
  }
  recording.view.rows = std::move(joined);
  for (auto& group : recording.view.groups) group.guessed = false;
  SummariseOps(recording.view);
}

}  // namespace fathom::collector::kineto
