#include "diagnosis/schedule/repairs.h"

#include <algorithm>
#include <optional>
#include <string>

#include "diagnosis/schedule/replay.h"

namespace fathom::diagnosis {
namespace {

double SavedBy(const Replay& replay, double whole, const Chosen& repaired) {
  return whole - replay.MeanStep(replay.Mixed(repaired, replay.ideal(), replay.recorded()));
}

}  // namespace

Repairs RepairsOf(const ScheduleTrace& trace, const WhatIf& what_if) {
  Repairs out;
  std::string missing;
  const std::optional<Replay> replay = Replay::Of(trace, missing);
  if (!replay) return out;
  const double whole = replay->MeanStep(replay->recorded());
  for (const IndexSlowdown& one : what_if.stage) {
    out.stage[one.index] = SavedBy(
        *replay, whole, [&one](const PlannedOp& op, std::size_t) { return op.stage == one.index; });
  }
  const std::size_t told = std::min(what_if.worker.size(), kWorkersRepaired);
  for (std::size_t i = 0; i < told; ++i) {
    const RankId rank = what_if.worker[i].rank;
    const auto worker = std::find_if(trace.workers.begin(), trace.workers.end(),
                                     [rank](const Worker& w) { return w.rank == rank; });
    if (worker == trace.workers.end()) continue;
    const auto replica_of = static_cast<std::size_t>(worker->replica);
    out.worker[rank] = SavedBy(*replay, whole, [&](const PlannedOp& op, std::size_t replica) {
      return op.stage == worker->stage && replica == replica_of;
    });
  }
  return out;
}

}  // namespace fathom::diagnosis
