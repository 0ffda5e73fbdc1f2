#include "diagnosis/schedule/schedule.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fathom::diagnosis {
namespace {

// (stage, kind, sequence) as one number that sorts alike.
std::uint64_t KeyOf(const ScheduleTrace& trace, const ScheduledOp& op) {
  constexpr int kSequenceBits = 32;
  constexpr int kKindBits = 8;
  const auto stage = static_cast<std::uint64_t>(trace.workers[op.worker].stage);
  return ((stage << kKindBits | static_cast<std::uint64_t>(op.kind)) << kSequenceBits) |
         static_cast<std::uint32_t>(op.sequence);
}

using Keys = std::vector<std::uint64_t>;

struct StepOps {
  std::size_t begin = 0;  // in trace.ops
  std::size_t end = 0;
  Keys keys;  // of one replica; empty if they differ between replicas
};

// What every replica runs in the step; empty if they run different ops, or one twice.
Keys SharedKeys(const ScheduleTrace& trace, const StepOps& step, std::size_t replicas) {
  if (step.end - step.begin < replicas) return {};
  std::vector<Keys> of(replicas);
  for (std::size_t i = step.begin; i < step.end; ++i) {
    const ScheduledOp& op = trace.ops[i];
    of[static_cast<std::size_t>(trace.workers[op.worker].replica)].push_back(KeyOf(trace, op));
  }
  for (Keys& keys : of) {
    std::sort(keys.begin(), keys.end());
    if (keys != of.front()) return {};
  }
  const bool twice = std::adjacent_find(of.front().begin(), of.front().end()) != of.front().end();
  return twice ? Keys() : of.front();
}

std::vector<StepOps> StepsOf(const ScheduleTrace& trace, std::size_t replicas) {
  std::vector<StepOps> steps;
  for (std::size_t i = 0; i < trace.ops.size();) {
    StepOps step;
    step.begin = i;
    while (i < trace.ops.size() && trace.ops[i].step == trace.ops[step.begin].step) ++i;
    step.end = i;
    step.keys = SharedKeys(trace, step, replicas);
    steps.push_back(std::move(step));
  }
  return steps;
}

// The ops that most steps consist of.
Keys MostCommon(const std::vector<StepOps>& steps) {
  std::map<Keys, std::size_t> count;
  for (const StepOps& step : steps) {
    if (!step.keys.empty()) ++count[step.keys];
  }
  const auto most = std::max_element(
      count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == count.end() ? Keys() : most->first;
}

// False unless every replica has every stage, numbered from 0 without gaps.
bool CountPositions(const ScheduleTrace& trace, Schedule& out) {
  for (const Worker& worker : trace.workers) {
    out.replicas = std::max(out.replicas, static_cast<std::size_t>(worker.replica) + 1);
    out.stages = std::max(out.stages, static_cast<std::size_t>(worker.stage) + 1);
  }
  return out.replicas > 0 && trace.workers.size() / out.replicas == out.stages &&
         trace.workers.size() % out.replicas == 0;
}

void PutStep(const ScheduleTrace& trace, const StepOps& step, const Keys& keys, std::size_t index,
             Schedule& out) {
  const std::size_t lanes = out.lanes();
  for (std::size_t i = step.begin; i < step.end; ++i) {
    const ScheduledOp& from = trace.ops[i];
    const auto at = std::lower_bound(keys.begin(), keys.end(), KeyOf(trace, from));
    const auto op = static_cast<std::size_t>(at - keys.begin());
    const Worker& worker = trace.workers[from.worker];
    const std::size_t lane = index * out.replicas + static_cast<std::size_t>(worker.replica);
    out.ops[op] = {worker.stage, from.kind,        from.sequence,
                   from.chunk,   from.model_chunk, from.micro_batch};
    out.start_s[op * lanes + lane] = from.start_s;
    out.length_s[op * lanes + lane] = from.duration_s;
  }
}

}  // namespace

Schedule PlanOf(const ScheduleTrace& trace) {
  Schedule out;
  if (!CountPositions(trace, out)) return {};
  const std::vector<StepOps> steps = StepsOf(trace, out.replicas);
  const Keys keys = MostCommon(steps);
  std::vector<const StepOps*> kept;
  for (const StepOps& step : steps) {
    if (!keys.empty() && step.keys == keys) kept.push_back(&step);
  }
  out.steps_left_out = steps.size() - kept.size();
  for (const StepOps* step : kept) out.steps.push_back(trace.steps[trace.ops[step->begin].step]);
  out.ops.resize(keys.size());
  out.start_s.resize(keys.size() * out.lanes());
  out.length_s.resize(out.start_s.size());
  for (std::size_t i = 0; i < kept.size(); ++i) PutStep(trace, *kept[i], keys, i, out);
  return out;
}

}  // namespace fathom::diagnosis
