#include "collector/import/ndtimeline/schedule_job.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace fathom::collector::ndtimeline {
namespace {

using diagnosis::ScheduledOp;
using diagnosis::ScheduleTrace;
using Level = diagnosis::SignalState::Level;

void PutRanks(const ScheduleTrace& trace, Recording& recording) {
  std::uint32_t world = 0;
  for (const diagnosis::Worker& worker : trace.workers) {
    world = std::max(world, worker.rank.value + 1);
    auto& facts = FactsOf(recording, worker.rank);
    facts.iterations_seen = static_cast<std::int64_t>(trace.steps.size());
    const auto join = [&](const std::string& name, const char* description) {
      diagnosis::Group& group = GroupOf(recording, name);
      group.description = description;
      group.members.push_back(worker.rank);
      ++group.size;
    };
    join(absl::StrCat("replica ", worker.replica), "pipeline");
    join(absl::StrCat("stage ", worker.stage), "data");
  }
  recording.view.world_size = world;
}

// Ranks that no worker stands for belong to the tensor groups of those that do.
void PutRanksPerWorker(ScheduleTrace& trace, std::uint32_t world) {
  const auto workers = static_cast<std::uint32_t>(trace.workers.size());
  if (workers > 0 && world % workers == 0) trace.ranks_per_worker = world / workers;
}

diagnosis::RankIteration IterationOf(RankId rank, const ScheduledOp* begin, const ScheduledOp* end,
                                     double step_s) {
  diagnosis::RankIteration out;
  out.rank = rank;
  out.duration = Nanos::FromSeconds(step_s);
  double computing = 0;
  double communicating = 0;
  for (const ScheduledOp* op = begin; op != end; ++op) {
    const bool works = IsCompute(op->kind) || op->kind == diagnosis::OpKind::kOptimizer;
    if (works) computing += op->duration_s;
    if (!works && op->kind != diagnosis::OpKind::kGarbageCollection) {
      communicating += op->duration_s;
      ++out.ops;
    }
  }
  out.device = Nanos::FromSeconds(std::min(computing, step_s));
  // Streams overlap: no more than the time that computing leaves can have been waiting.
  const double left = std::max(0.0, step_s - out.device.Seconds());
  out.blocked = Nanos::FromSeconds(std::clamp(communicating, 0.0, left));
  return out;
}

void PutIterations(const ScheduleTrace& trace, Recording& recording) {
  const auto& ops = trace.ops;
  for (std::size_t begin = 0, end = 0; begin < ops.size(); begin = end) {
    double step_s = 0;
    for (end = begin; end < ops.size() && ops[end].step == ops[begin].step; ++end) {
      step_s = std::max(step_s, ops[end].start_s + ops[end].duration_s);
    }
    diagnosis::IterationSummary iteration;
    iteration.index = Iteration(trace.steps[ops[begin].step]);
    for (std::size_t i = begin; i < end;) {
      std::size_t last = i;
      while (last < end && ops[last].worker == ops[i].worker) ++last;
      iteration.ranks.push_back(IterationOf(trace.workers[ops[i].worker].rank, ops.data() + i,
                                            ops.data() + last, step_s));
      i = last;
    }
    std::sort(iteration.ranks.begin(), iteration.ranks.end(),
              [](const auto& a, const auto& b) { return a.rank < b.rank; });
    recording.view.window.push_back(std::move(iteration));
  }
}

}  // namespace

void PutSchedule(ScheduleTrace trace, Recording& recording) {
  PutRanks(trace, recording);
  PutRanksPerWorker(trace, recording.view.world_size);
  PutIterations(trace, recording);
  recording.view.signals.push_back(
      {"schedule", Level::kOn, "what each worker computed and sent, and when"});
  recording.view.signals.push_back(
      {"kernels", Level::kOff, "what an op consists of: waits inside tensor and context groups"});
  recording.view.signals.push_back(
      {"host", Level::kOff, "Python, data loader, garbage collection"});
  recording.view.schedule = std::move(trace);
}

}  // namespace fathom::collector::ndtimeline
