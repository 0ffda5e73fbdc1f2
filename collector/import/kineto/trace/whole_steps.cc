#include "collector/import/kineto/trace/whole_steps.h"

#include <algorithm>
#include <vector>

namespace fathom::collector::kineto {

std::ptrdiff_t StepAt(const RankTrace& trace, std::int64_t time) {
  const auto after =
      std::partition_point(trace.steps.begin(), trace.steps.end(),
                           [time](const StepMark& step) { return step.begin <= time; });
  return after - trace.steps.begin() - 1;
}

std::set<std::int64_t> StepsInPart(const RankTrace& trace, const JoinedOps& joined,
                                   std::int64_t training_thread) {
  if (!trace.cut) return {};
  std::vector<bool> in_part(trace.steps.size(), false);
  for (const JoinedOp& op : joined.ops) {
    const std::ptrdiff_t step = StepAt(trace, op.call.begin);
    const bool lost = op.run_begin == kAbsent && !IsPointToPoint(op.call.kind);
    if (step >= 0 && lost) in_part[static_cast<std::size_t>(step)] = true;
  }
  std::set<std::int64_t> numbers;
  bool before = false;
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const StepMark& step = trace.steps[i];
    const bool beyond = trace.last_thread == training_thread && step.end >= trace.last_begin;
    if (in_part[i] || before || beyond) numbers.insert(step.number);
    before = in_part[i] || beyond;
  }
  return numbers;
}

}  // namespace fathom::collector::kineto
