#include "diagnosis/graph/critical_path.h"

#include <algorithm>

namespace fathom::diagnosis {
namespace {

// The op that ends the iteration on a line: the one done last.
OpRef EndingOp(const ExecutionGraph& graph, std::size_t line, Iteration iteration) {
  const RankTimeline& timeline = graph.lines()[line];
  const auto it = timeline.iterations.find(iteration);
  OpRef last{line, kNoOp};
  if (it == timeline.iterations.end()) return last;
  for (std::size_t k = it->second.first; k < it->second.second; ++k) {
    if (!timeline.ops[k]->done()) continue;
    if (last.op == kNoOp || timeline.ops[k]->end >= timeline.ops[last.op]->end) last.op = k;
  }
  return last;
}

// Walks one iteration. The place on each rank only ever moves back, so the walk ends.
class Walk {
 public:
  Walk(const ExecutionGraph& graph, Iteration iteration, double floor)
      : graph_(graph), iteration_(iteration), floor_(floor) {
    for (const RankTimeline& line : graph.lines()) frontier_.push_back(line.ops.size());
  }

  std::vector<PathStep> Run() {
    OpRef at = Start();
    while (at.op != kNoOp && at.op < frontier_[at.line]) {
      frontier_[at.line] = at.op;
      at = Back(at);
    }
    return std::move(path_);
  }

 private:
  OpRef Start() {
    for (std::size_t l = 0; l < graph_.lines().size(); ++l) {
      const OpRef end = EndingOp(graph_, l, iteration_);
      if (end.op == kNoOp) continue;
      const LastArrival last = graph_.instances().WhoCameLast(end, 0);
      if (!last.known) continue;
      path_.push_back({last.who, true, Transfer(last.who)});
      return last.who;
    }
    return {};
  }

  double Transfer(const OpRef& ref) const {
    const Instance* instance = graph_.instances().Of(ref);
    return instance == nullptr ? 0 : graph_.instances().TransferSeconds(*instance);
  }

  bool InIteration(const OpRef& ref) const {
    return graph_.lines()[ref.line].ops[ref.op]->iteration == iteration_;
  }

  // Through the gap before `at`, to the op to go on from.
  OpRef Back(const OpRef& at) {
    const Gap& gap = graph_.lines()[at.line].gaps[at.op];
    path_.push_back({at, false, gap.after_wait});
    if (gap.waited_op == kNoOp) return Before(at);
    OpRef waited{at.line, gap.waited_op};
    if (!InIteration(waited)) return {};
    double left = gap.waited;
    while (true) {
      const double transfer = std::min(Transfer(waited), left);
      const LastArrival last = graph_.instances().WhoCameLast(waited, floor_);
      if (last.known && !last.self && last.who.op < frontier_[last.who.line]) {
        // The wait was the lead of the waiter and then the transfer, which is nobody's lateness.
        path_.push_back({waited, true, transfer});
        return last.who;
      }
      const OpRef ahead = AheadOnItsStream(waited);
      path_.push_back({waited, true, ahead.op == kNoOp ? left : transfer});
      // The waiter came last itself: the chain goes on before its own entry into the op.
      if (ahead.op == kNoOp) return waited.op < at.op ? waited : Before(at);
      left -= transfer;
      waited = ahead;
    }
  }

  // The op that was carried out when `queued` was entered, and for which its stream had to wait.
  OpRef AheadOnItsStream(const OpRef& queued) const {
    const auto& ops = graph_.lines()[queued.line].ops;
    const CommOp& op = *ops[queued.op];
    if (op.exec_start <= op.enter) return {};
    for (std::size_t k = queued.op; k-- > 0 && InIteration({queued.line, k});) {
      const CommOp& before = *ops[k];
      if (before.group != op.group || !before.done()) continue;
      const bool ahead = before.end > op.enter && before.end <= op.exec_start;
      return ahead ? OpRef{queued.line, k} : OpRef{};
    }
    return {};
  }

  OpRef Before(const OpRef& at) const {
    if (at.op == 0) return {};
    const OpRef before{at.line, at.op - 1};
    return InIteration(before) ? before : OpRef{};
  }

  const ExecutionGraph& graph_;
  Iteration iteration_;
  double floor_;
  std::vector<std::size_t> frontier_;
  std::vector<PathStep> path_;
};

}  // namespace

std::vector<PathStep> CriticalPath(const ExecutionGraph& graph, Iteration iteration,
                                   double wait_floor) {
  return Walk(graph, iteration, wait_floor).Run();
}

}  // namespace fathom::diagnosis
