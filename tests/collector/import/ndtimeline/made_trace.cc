#include "tests/collector/import/ndtimeline/made_trace.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace fathom::collector::ndtimeline {
namespace {

using diagnosis::OpKind;
using diagnosis::ScheduledOp;
using diagnosis::ScheduleTrace;
using diagnosis::Worker;

struct Task {
  bool forward = true;
  std::int32_t chunk = 0;
  std::int32_t micro_batch = 0;
};

// The computing of a stage in order.
std::vector<Task> OrderOf(const JobShape& shape, std::int32_t stage) {
  const std::int32_t all = shape.micro_batches * shape.chunks;
  const std::int32_t round = shape.stages * shape.chunks;
  const auto task = [&](bool forward, std::int32_t k) {
    if (shape.chunks == 1) return Task{forward, 0, k};
    const std::int32_t chunk = k / shape.stages % shape.chunks;
    return Task{forward, forward ? chunk : shape.chunks - 1 - chunk,
                k / round * shape.stages + k % shape.stages};
  };
  std::int32_t warm_up = shape.stages - stage - 1;
  if (shape.chunks > 1) warm_up = 2 * warm_up + (shape.chunks - 1) * shape.stages;
  warm_up = std::min(warm_up, all);
  std::vector<Task> order;
  for (std::int32_t k = 0; k < warm_up; ++k) order.push_back(task(true, k));
  for (std::int32_t k = warm_up; k < all; ++k) {
    order.push_back(task(true, k));
    order.push_back(task(false, k - warm_up));
  }
  for (std::int32_t k = all - warm_up; k < all; ++k) order.push_back(task(false, k));
  return order;
}

// One step of one replica.
class StepMaker {
 public:
  StepMaker(const JobShape& shape, const ComputingTime& time, ScheduleTrace& trace,
            std::uint32_t step, std::int32_t replica)
      : shape_(shape), time_(time), trace_(trace), step_(step), replica_(replica) {}

  // When each stage has done its computing.
  std::vector<double> Run() {
    const auto stages = static_cast<std::size_t>(shape_.stages);
    std::vector<std::vector<Task>> order;
    for (std::int32_t stage = 0; stage < shape_.stages; ++stage) {
      order.push_back(OrderOf(shape_, stage));
    }
    std::vector<std::size_t> next(stages);
    free_.assign(stages, 0);
    before_.assign(stages, {0, 0});
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t stage = 0; stage < stages; ++stage) {
        while (next[stage] < order[stage].size() && TryRun(stage, order[stage][next[stage]])) {
          ++next[stage];
          moved = true;
        }
      }
    }
    return free_;
  }

  void Put(std::size_t stage, OpKind kind, double start, double end, const Task& task) {
    ScheduledOp op;
    op.step = step_;
    op.worker = WorkerAt(stage);
    op.kind = kind;
    op.sequence = count_[{stage, kind}]++;
    if (diagnosis::IsCompute(kind) || kind == OpKind::kParamsAllGather) {
      op.chunk = static_cast<std::int16_t>(task.chunk);
    }
    if (diagnosis::IsCompute(kind)) {
      op.model_chunk =
          static_cast<std::int16_t>(task.chunk * shape_.stages + static_cast<std::int32_t>(stage));
      op.micro_batch = task.micro_batch;
    }
    op.start_s = start;
    op.duration_s = end - start;
    trace_.ops.push_back(op);
  }

 private:
  std::uint32_t WorkerAt(std::size_t stage) const {
    return static_cast<std::uint32_t>(replica_ * shape_.stages) + static_cast<std::uint32_t>(stage);
  }

  bool TryRun(std::size_t stage, const Task& task) {
    const std::int32_t place = task.chunk * shape_.stages + static_cast<std::int32_t>(stage);
    const std::int32_t from = place + (task.forward ? -1 : 1);
    const bool message = from >= 0 && from < shape_.stages * shape_.chunks;
    double& before = task.forward ? before_[stage].first : before_[stage].second;
    const OpKind recv = task.forward ? OpKind::kForwardRecv : OpKind::kBackwardRecv;
    const OpKind send = task.forward ? OpKind::kForwardSend : OpKind::kBackwardSend;
    double ready = before;
    if (message) {
      const auto made = done_.find({task.forward, from, task.micro_batch});
      if (made == done_.end()) return false;
      ready = std::max(before, made->second) + shape_.message_s;
      const auto sender = static_cast<std::size_t>(from % shape_.stages);
      // Of one sender, messages of one kind are received in the order in which they were made.
      Put(sender, send, made->second, ready, task);
    }
    Put(stage, recv, before, ready, task);
    const double start = std::max(free_[stage], ready);
    ScheduledOp op;
    op.step = step_;
    op.kind = task.forward ? OpKind::kForwardCompute : OpKind::kBackwardCompute;
    op.chunk = static_cast<std::int16_t>(task.chunk);
    op.micro_batch = task.micro_batch;
    const double end = start + time_(trace_.workers[WorkerAt(stage)], op);
    Put(stage, op.kind, start, end, task);
    free_[stage] = end;
    before = end;
    done_[{task.forward, place, task.micro_batch}] = end;
    const std::int32_t to = place + (task.forward ? 1 : -1);
    if (to < 0 || to >= shape_.stages * shape_.chunks) Put(stage, send, end, end, task);
    return true;
  }

  const JobShape& shape_;
  const ComputingTime& time_;
  ScheduleTrace& trace_;
  const std::uint32_t step_;
  const std::int32_t replica_;
  std::vector<double> free_;
  std::vector<std::pair<double, double>> before_;  // end of the last forward, backward
  std::map<std::tuple<bool, std::int32_t, std::int32_t>, double> done_;
  std::map<std::pair<std::size_t, OpKind>, std::int32_t> count_;
};

// Sends were put when received; a trace numbers them by their start.
void NumberByStart(ScheduleTrace& trace) {
  std::stable_sort(
      trace.ops.begin(), trace.ops.end(), [](const ScheduledOp& a, const ScheduledOp& b) {
        return std::tuple(a.step, a.worker, a.start_s) < std::tuple(b.step, b.worker, b.start_s);
      });
  std::map<std::tuple<std::uint32_t, std::uint32_t, OpKind>, std::int32_t> count;
  for (ScheduledOp& op : trace.ops) op.sequence = count[{op.step, op.worker, op.kind}]++;
}

}  // namespace

ScheduleTrace MakeTrace(const JobShape& shape, const ComputingTime& time) {
  ScheduleTrace trace;
  for (std::int32_t replica = 0; replica < shape.replicas; ++replica) {
    for (std::int32_t stage = 0; stage < shape.stages; ++stage) {
      trace.workers.push_back(
          {replica, stage, RankId(static_cast<std::uint32_t>(replica * shape.stages + stage))});
    }
  }
  for (std::uint32_t step = 0; step < shape.steps; ++step) {
    trace.steps.push_back(10 + 3 * static_cast<std::int64_t>(step));
    std::vector<StepMaker> makers;
    std::vector<std::vector<double>> done;
    for (std::int32_t replica = 0; replica < shape.replicas; ++replica) {
      makers.emplace_back(shape, time, trace, step, replica);
      done.push_back(makers.back().Run());
    }
    double all_done = 0;
    for (const auto& of_replica : done) {
      all_done = std::max(all_done, *std::max_element(of_replica.begin(), of_replica.end()));
    }
    for (std::size_t r = 0; r < makers.size(); ++r) {
      for (std::size_t stage = 0; stage < done[r].size(); ++stage) {
        const double clipped = all_done + shape.message_s;
        makers[r].Put(stage, OpKind::kClipGradients, done[r][stage], clipped, {});
        makers[r].Put(stage, OpKind::kOptimizer, clipped, clipped + 0.01, {});
      }
    }
  }
  NumberByStart(trace);
  return trace;
}

}  // namespace fathom::collector::ndtimeline
