#include "diagnosis/schedule/what_if.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace fathom::diagnosis {
namespace {

// Percent of the workers that count as worst; the source's choice.
constexpr std::size_t kWorstPercent = 3;

struct ScoredWorker {
  Worker worker;
  double score = 0;
};

double MeasuredStep(const Schedule& schedule) {
  const std::size_t lanes = schedule.lanes();
  double sum = 0;
  for (std::size_t first = 0; first < lanes; first += schedule.replicas) {
    double begin = schedule.start(0, first);
    double end = 0;
    for (std::size_t op = 0; op < schedule.ops.size(); ++op) {
      for (std::size_t lane = first; lane < first + schedule.replicas; ++lane) {
        begin = std::min(begin, schedule.start(op, lane));
        end = std::max(end, schedule.end(op, lane));
      }
    }
    sum += end - begin;
  }
  return sum / static_cast<double>(schedule.steps.size());
}

template <typename T>
void SortLargestFirst(std::vector<T>& values) {
  std::stable_sort(values.begin(), values.end(),
                   [](const T& a, const T& b) { return a.slowdown > b.slowdown; });
}

class Analysis {
 public:
  Analysis(const ScheduleTrace& trace, const Replay& replay) : trace_(trace), replay_(replay) {}

  WhatIf Run() {
    const Schedule& schedule = replay_.schedule();
    out_.steps = schedule.steps.size();
    out_.steps_left_out = schedule.steps_left_out;
    out_.measured_s = MeasuredStep(schedule);
    out_.replayed_s = replay_.MeanStep(replay_.recorded());
    out_.ideal_s = replay_.MeanStep(replay_.ideal());
    if (out_.ideal_s <= 0 || out_.replayed_s <= 0) return out_;
    out_.slowdown = out_.replayed_s / out_.ideal_s;
    out_.launch_slowdown = out_.measured_s / out_.replayed_s;
    PutReplicasAndStages();
    PutKinds();
    PutWorkers();
    const auto last = static_cast<std::int32_t>(schedule.stages) - 1;
    out_.last_stage_share =
        ShareOf([&](const PlannedOp& op, std::size_t) { return op.stage == last; });
    SortLargestFirst(out_.worker);
    SortLargestFirst(out_.replica);
    SortLargestFirst(out_.stage);
    SortLargestFirst(out_.kind);
    return out_;
  }

 private:
  double OnlySlowdown(const Chosen& chosen) const {
    return replay_.MeanStep(replay_.Only(chosen, replay_.ideal())) / out_.ideal_s;
  }

  double ShareOf(const Chosen& repaired) const {
    const double lost = out_.replayed_s - out_.ideal_s;
    if (lost <= 0) return 0;
    const Lengths lengths = replay_.Mixed(repaired, replay_.ideal(), replay_.recorded());
    return (out_.replayed_s - replay_.MeanStep(lengths)) / lost;
  }

  void PutReplicasAndStages() {
    for (std::size_t i = 0; i < replay_.schedule().replicas; ++i) {
      out_.replica.push_back(
          {static_cast<std::int32_t>(i),
           OnlySlowdown([&](const PlannedOp&, std::size_t replica) { return replica == i; })});
    }
    for (std::size_t i = 0; i < replay_.schedule().stages; ++i) {
      const auto stage = static_cast<std::int32_t>(i);
      out_.stage.push_back({stage, OnlySlowdown([&](const PlannedOp& op, std::size_t) {
                              return op.stage == stage;
                            })});
    }
  }

  void PutKinds() {
    std::set<std::string> names;
    for (const PlannedOp& op : replay_.schedule().ops) names.emplace(ReportedKind(op.kind));
    for (const std::string& name : names) {
      out_.kind.push_back({name, OnlySlowdown([&](const PlannedOp& op, std::size_t) {
                             return ReportedKind(op.kind) == name;
                           })});
    }
  }

  // Highest first; of equals the lower rank.
  std::vector<ScoredWorker> Scores() const {
    std::vector<ScoredWorker> scores;
    for (const Worker& worker : trace_.workers) {
      const double replica = out_.replica[static_cast<std::size_t>(worker.replica)].slowdown;
      const double stage = out_.stage[static_cast<std::size_t>(worker.stage)].slowdown;
      scores.push_back({worker, std::min(replica, stage)});
    }
    std::sort(scores.begin(), scores.end(), [](const ScoredWorker& a, const ScoredWorker& b) {
      return std::tuple(-a.score, a.worker.rank) < std::tuple(-b.score, b.worker.rank);
    });
    return scores;
  }

  // Requires: replicas and stages still in their own order.
  void PutWorkers() {
    const std::vector<ScoredWorker> scores = Scores();
    const std::size_t worst = (scores.size() * kWorstPercent + 99) / 100;
    std::set<std::pair<std::int32_t, std::size_t>> repaired;
    for (std::size_t i = 0; i < std::min(scores.size(), kWorkersReplayed); ++i) {
      const Worker& worker = scores[i].worker;
      const auto replica_of = static_cast<std::size_t>(worker.replica);
      out_.worker.push_back(
          {worker.rank, OnlySlowdown([&](const PlannedOp& op, std::size_t replica) {
             return op.stage == worker.stage && replica == replica_of;
           })});
    }
    for (std::size_t i = 0; i < worst; ++i) {
      const Worker& worker = scores[i].worker;
      repaired.emplace(worker.stage, static_cast<std::size_t>(worker.replica));
    }
    out_.worst_workers_share = ShareOf([&](const PlannedOp& op, std::size_t replica) {
      return repaired.contains({op.stage, replica});
    });
  }

  const ScheduleTrace& trace_;
  const Replay& replay_;
  WhatIf out_;
};

}  // namespace

WhatIf WhatIfOf(const ScheduleTrace& trace, const Replay& replay) {
  return Analysis(trace, replay).Run();
}

}  // namespace fathom::diagnosis
