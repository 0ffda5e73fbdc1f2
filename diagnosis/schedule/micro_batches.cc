#include "diagnosis/schedule/micro_batches.h"

#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "diagnosis/schedule/worker_load.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/stats/student_t.h"

namespace fathom::diagnosis {
namespace {

using OpIndices = std::vector<std::size_t>;
using Part = std::tuple<std::int32_t, std::int16_t, OpKind>;  // stage, chunk, direction

// Computing ops of equal work, in order of sequence.
std::map<Part, OpIndices> EqualWork(const Schedule& schedule) {
  std::map<Part, OpIndices> parts;
  for (std::size_t op = 0; op < schedule.ops.size(); ++op) {
    const PlannedOp& planned = schedule.ops[op];
    if (IsCompute(planned.kind)) {
      parts[{planned.stage, planned.chunk, planned.kind}].push_back(op);
    }
  }
  return parts;
}

// A worker's computing over its stage's mean, median over the steps. [replica × stages + stage]
std::vector<double> ConstantOf(const WorkerLoads& loads) {
  std::vector<double> constant;
  for (std::size_t replica = 0; replica < loads.replicas; ++replica) {
    for (std::size_t stage = 0; stage < loads.stages; ++stage) {
      std::vector<double> ratios;
      for (std::size_t step = 0; step < loads.steps; ++step) {
        double sum = 0;
        for (std::size_t other = 0; other < loads.replicas; ++other) {
          sum += loads.at(other, stage, step);
        }
        const double mean = sum / static_cast<double>(loads.replicas);
        ratios.push_back(mean > 0 ? loads.at(replica, stage, step) / mean : 1);
      }
      constant.push_back(Median(std::move(ratios)));
    }
  }
  return constant;
}

// By micro-batch where the trace tells it; else the n-th forward belongs to the n-th backward.
std::vector<std::pair<std::size_t, std::size_t>> PairsOf(const Schedule& schedule,
                                                         const OpIndices& forward,
                                                         const OpIndices& backward) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < forward.size(); ++i) {
    const std::int32_t batch = schedule.ops[forward[i]].micro_batch;
    if (batch < 0 && i < backward.size()) pairs.emplace_back(forward[i], backward[i]);
    for (const std::size_t other : backward) {
      if (batch >= 0 && schedule.ops[other].micro_batch == batch) {
        pairs.emplace_back(forward[i], other);
      }
    }
  }
  return pairs;
}

double Pearson(const std::vector<std::pair<double, double>>& pairs) {
  double mean_x = 0;
  double mean_y = 0;
  for (const auto& [x, y] : pairs) {
    mean_x += x / static_cast<double>(pairs.size());
    mean_y += y / static_cast<double>(pairs.size());
  }
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (const auto& [x, y] : pairs) {
    xx += (x - mean_x) * (x - mean_x);
    yy += (y - mean_y) * (y - mean_y);
    xy += (x - mean_x) * (y - mean_y);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

}  // namespace

Lengths Levelled(const Schedule& schedule, const Lengths& lengths) {
  const std::size_t lanes = schedule.lanes();
  const std::vector<double> constant = ConstantOf(LoadsOf(schedule, lengths));
  Lengths out = lengths;
  for (const auto& [part, ops] : EqualWork(schedule)) {
    const auto stage = static_cast<std::size_t>(std::get<0>(part));
    for (std::size_t first = 0; first < lanes; first += schedule.replicas) {
      double sum = 0;
      for (const std::size_t op : ops) {
        for (std::size_t r = 0; r < schedule.replicas; ++r) sum += lengths[op * lanes + first + r];
      }
      const double mean = sum / static_cast<double>(ops.size() * schedule.replicas);
      for (const std::size_t op : ops) {
        for (std::size_t r = 0; r < schedule.replicas; ++r) {
          out[op * lanes + first + r] = mean * constant[r * schedule.stages + stage];
        }
      }
    }
  }
  return out;
}

std::optional<double> CorrelationOfLengths(const Schedule& schedule, const Lengths& lengths,
                                           const Lengths& level, double most_chance) {
  const std::size_t lanes = schedule.lanes();
  const auto parts = EqualWork(schedule);
  std::vector<std::pair<double, double>> pairs;
  for (const auto& [part, forward] : parts) {
    if (std::get<2>(part) != OpKind::kForwardCompute) continue;
    const auto backward =
        parts.find({std::get<0>(part), std::get<1>(part), OpKind::kBackwardCompute});
    if (backward == parts.end()) continue;
    for (const auto& [f, b] : PairsOf(schedule, forward, backward->second)) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::size_t x = f * lanes + lane;
        const std::size_t y = b * lanes + lane;
        if (level[x] > 0 && level[y] > 0) {
          pairs.emplace_back(lengths[x] / level[x], lengths[y] / level[y]);
        }
      }
    }
  }
  const double correlation = Pearson(pairs);
  if (ChanceOfCorrelation(correlation, pairs.size()) >= most_chance) return std::nullopt;
  return correlation;
}

}  // namespace fathom::diagnosis
