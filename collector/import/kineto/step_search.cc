#include "collector/import/kineto/step_search.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/import/kineto/rank_rows.h"
#include "collector/import/kineto/trace/comm_joiner.h"
#include "collector/import/reading/repetition.h"
#include "diagnosis/stats/robust.h"

namespace fathom::collector::kineto {
namespace {

struct Call {
  std::uint64_t key = 0;                        // kind and size
  std::pair<std::string, std::int64_t> number;  // group and sequence, where both are told
  std::int64_t called = 0;                      // on the clock of the trace
  std::int64_t ended = 0;                       // likewise
  std::int64_t came = 0;                        // wall clock
  std::int64_t left = 0;                        // wall clock
};
using Line = std::vector<Call>;

std::uint64_t KeyOf(const CommEvent& call) {
  std::uint64_t key = static_cast<std::uint64_t>(call.kind);
  // What members of an all-to-all receive may differ, and from step to step.
  const std::int64_t size = call.kind == CollectiveKind::kAllToAll ? kAbsent : call.elements;
  for (const std::int64_t part : {size, call.group_size}) {
    key = (key ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15ULL;
  }
  return key ^ (key >> 29);
}

Line LineOf(const RankTrace& trace) {
  const JoinedOps joined = JoinComms(trace, TrainingThread(trace));
  const bool device = std::any_of(joined.ops.begin(), joined.ops.end(),
                                  [](const JoinedOp& op) { return op.on_device; });
  Line line;
  for (const JoinedOp& op : joined.ops) {
    if (IsPointToPoint(op.call.kind) || op.on_device != device) continue;
    Call call;
    call.key = KeyOf(op.call);
    if (op.call.sequence != kAbsent) call.number = {op.call.group, op.call.sequence};
    call.called = op.call.begin;
    call.came = TimeOf(trace, device ? op.run_begin : op.call.begin).ns;
    call.ended = op.left();
    call.left = TimeOf(trace, call.ended).ns;
    line.push_back(std::move(call));
  }
  return line;
}

bool Numbered(const std::vector<Line>& lines) {
  return std::all_of(lines.begin(), lines.end(), [](const Line& line) {
    return std::all_of(line.begin(), line.end(),
                       [](const Call& call) { return !call.number.first.empty(); });
  });
}

void KeepShared(std::vector<Line>& lines) {
  std::map<std::pair<std::string, std::int64_t>, std::size_t> seen;
  for (const Line& line : lines) {
    for (const Call& call : line) ++seen[call.number];
  }
  for (Line& line : lines) {
    std::erase_if(line, [&](const Call& call) { return seen.at(call.number) != lines.size(); });
  }
}

// To the length that all have: a recording ends where it was stopped.
void CutToShortest(std::vector<Line>& lines) {
  std::size_t shortest = lines.front().size();
  for (const Line& line : lines) shortest = std::min(shortest, line.size());
  for (Line& line : lines) line.resize(shortest);
}

bool SameOps(const Line& a, const Line& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Call& x, const Call& y) {
    return x.key == y.key && x.number == y.number;
  });
}

double MedianPeriod(const Line& line, const Repetition& found) {
  std::vector<double> periods;
  for (std::size_t i = found.begin; i + found.period < found.end; ++i) {
    periods.push_back(static_cast<double>(line[i + found.period].called - line[i].called));
  }
  return diagnosis::Median(std::move(periods));
}

bool Overlap(const std::vector<Line>& lines, const Repetition& found) {
  const double slack = MedianPeriod(lines.front(), found) / 2;
  for (std::size_t i = found.begin; i < found.end; ++i) {
    std::int64_t last_came = lines.front()[i].came, first_left = lines.front()[i].left;
    for (const Line& line : lines) {
      last_came = std::max(last_came, line[i].came);
      first_left = std::min(first_left, line[i].left);
    }
    if (static_cast<double>(last_came - first_left) > slack) return false;
  }
  return true;
}

// The first op of the stretch that ends an iteration.
std::size_t BorderOf(const std::vector<Line>& lines, const Repetition& found) {
  return FirstBorder(found, lines.size(), [&](std::size_t line, std::size_t op) {
    return static_cast<double>(lines[line][op + 1].came - lines[line][op].left);
  });
}

void Mark(const Line& line, const Repetition& found, std::size_t border, RankTrace& trace) {
  const std::int64_t thread = TrainingThread(trace);
  for (std::int64_t number = 0; border + found.period < found.end; ++number) {
    const Call& before = line[border];
    border += found.period;
    trace.steps.push_back(
        {number, before.called + 1, line[border].called + 1, thread, before.ended});
  }
}

constexpr char kUntold[] = "no trace marks its iterations, and they cannot be told: ";

}  // namespace

std::string MarkSteps(std::vector<RankTrace>& traces) {
  const bool marked = std::any_of(traces.begin(), traces.end(),
                                  [](const RankTrace& trace) { return !trace.steps.empty(); });
  if (marked) return {};
  std::vector<Line> lines;
  for (const RankTrace& trace : traces) {
    lines.push_back(LineOf(trace));
    if (lines.back().empty()) return {};
  }
  if (lines.empty()) return {};
  const bool numbered = Numbered(lines);
  if (numbered) KeepShared(lines);
  CutToShortest(lines);
  const Line& first = lines.front();
  for (const Line& line : lines) {
    if (SameOps(first, line)) continue;
    return absl::StrCat(kUntold, "ranks ran different collectives");
  }
  std::vector<std::uint64_t> keys;
  for (const Call& call : first) keys.push_back(call.key);
  const auto found = FindPeriod(keys);
  if (!found) {
    return absl::StrCat(kUntold, "the ", keys.size(), " collectives that all ranks ran do not ",
                        "repeat with a period");
  }
  if (!numbered && !Overlap(lines, *found)) {
    return absl::StrCat(kUntold, "the traces begin at different ops, or their clocks are apart");
  }
  const std::size_t border = BorderOf(lines, *found);
  for (std::size_t i = 0; i < traces.size(); ++i) Mark(lines[i], *found, border, traces[i]);
  return absl::StrCat("no trace marks its iterations: they are told by the ", found->period,
                      found->period == 1 ? " collective" : " collectives", " that repeat");
}

}  // namespace fathom::collector::kineto
