#include "diagnosis/slowness/rules/arrival.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fathom::diagnosis {
namespace {

using Blame = std::map<std::pair<RankId, GroupId>, double>;

// Of several ranks that wait for the same one at the same time, the longest wait counts.
void Lay(Blame& blame, const std::pair<RankId, GroupId>& key, double seconds) {
  double& most = blame[key];
  most = std::max(most, seconds);
}

void ExamineLine(const Case& c, std::size_t line, Iteration iteration, Blame& blame) {
  const RankTimeline& timeline = c.graph.lines()[line];
  const double floor = c.graph.wait_floor();
  const auto range = timeline.iterations.find(iteration);
  if (range == timeline.iterations.end()) return;
  const auto [first, last] = range->second;
  std::map<std::pair<RankId, GroupId>, double> sum;
  for (std::size_t k = first; k < last; ++k) {
    const Gap& gap = timeline.gaps[k];
    if (gap.waited_op == kNoOp) continue;
    const LastArrival arrival = c.graph.instances().WhoCameLast({line, gap.waited_op}, floor);
    if (!arrival.known || arrival.self) continue;
    const GroupId group = timeline.ops[gap.waited_op]->group;
    sum[{c.graph.lines()[arrival.who.line].rank, group}] += gap.waited;
  }
  for (const auto& [key, seconds] : sum) Lay(blame, key, seconds);
}

// The op that ends the iteration: its callers are blocked until the end, in no gap of theirs.
void ExamineEnd(const Case& c, Iteration iteration, Blame& blame) {
  for (std::size_t l = 0; l < c.graph.lines().size(); ++l) {
    const RankTimeline& timeline = c.graph.lines()[l];
    const auto range = timeline.iterations.find(iteration);
    if (range == timeline.iterations.end()) continue;
    const OpRef end{l, range->second.second - 1};
    const LastArrival arrival = c.graph.instances().WhoCameLast(end, c.graph.wait_floor());
    if (!arrival.known || arrival.self || arrival.lead_s <= 0) continue;
    Lay(blame, {c.graph.lines()[arrival.who.line].rank, timeline.ops[end.op]->group},
        arrival.lead_s);
  }
}

void ExamineIteration(const Case& c, Iteration iteration, bool irregular, Findings& out) {
  Blame blame;
  for (std::size_t l = 0; l < c.graph.lines().size(); ++l) ExamineLine(c, l, iteration, blame);
  ExamineEnd(c, iteration, blame);
  for (const auto& [key, seconds] : blame) {
    out.caused_waits.push_back({iteration, key.first, key.second, seconds, irregular});
  }
}

void Examine(const Case& c, Findings& out) {
  for (Iteration iteration : c.graph.irregular()) ExamineIteration(c, iteration, true, out);
  for (Iteration iteration : c.graph.baseline()) ExamineIteration(c, iteration, false, out);
}

}  // namespace

Rule ArrivalRule() {
  return {"arrival",
          {"communication_ops"},
          "for whom the others wait",
          [](const Suspicion& s) { return s.slow; },
          Examine};
}

}  // namespace fathom::diagnosis
