#include "diagnosis/schedule/worker_load.h"

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {

WorkerLoads LoadsOf(const Schedule& schedule, const Lengths& lengths) {
  WorkerLoads out;
  out.replicas = schedule.replicas;
  out.stages = schedule.stages;
  out.steps = schedule.steps.size();
  out.seconds.resize(out.replicas * out.stages * out.steps);
  const std::size_t lanes = schedule.lanes();
  for (std::size_t op = 0; op < schedule.ops.size(); ++op) {
    if (!IsCompute(schedule.ops[op].kind)) continue;
    const auto stage = static_cast<std::size_t>(schedule.ops[op].stage);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::size_t replica = lane % out.replicas;
      const std::size_t step = lane / out.replicas;
      out.seconds[(replica * out.stages + stage) * out.steps + step] += lengths[op * lanes + lane];
    }
  }
  return out;
}

std::vector<double> AgainstPeers(const WorkerLoads& loads, std::size_t replica, std::size_t stage) {
  std::vector<double> ratios;
  for (std::size_t step = 0; step < loads.steps; ++step) {
    std::vector<double> peers;
    for (std::size_t other = 0; other < loads.replicas; ++other) {
      if (other != replica) peers.push_back(loads.at(other, stage, step));
    }
    const double usual = Median(std::move(peers));
    ratios.push_back(usual > 0 ? loads.at(replica, stage, step) / usual : 1);
  }
  return ratios;
}

void RepairByPeers(const Schedule& schedule, std::size_t replica, std::size_t stage,
                   Lengths& lengths) {
  const std::size_t lanes = schedule.lanes();
  for (std::size_t op = 0; op < schedule.ops.size(); ++op) {
    const PlannedOp& planned = schedule.ops[op];
    if (!IsCompute(planned.kind) || static_cast<std::size_t>(planned.stage) != stage) continue;
    for (std::size_t first = 0; first < lanes; first += schedule.replicas) {
      std::vector<double> peers;
      for (std::size_t other = 0; other < schedule.replicas; ++other) {
        if (other != replica) peers.push_back(lengths[op * lanes + first + other]);
      }
      lengths[op * lanes + first + replica] = Median(std::move(peers));
    }
  }
}

}  // namespace fathom::diagnosis
