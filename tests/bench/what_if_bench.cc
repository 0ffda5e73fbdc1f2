// How long an NDTimeline trace takes from file to figures.
//
// Usage: what_if_bench [--made] TRACE.parquet…    prints the best of ten runs of each part, in
// milliseconds on the core. --made: also of a made-up job of 119,952 ops (8 stages, 4 replicas, 75
// micro-batches, 9 steps), which is not read from a file.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "collector/import/ndtimeline/ndtimeline_importer.h"
#include "diagnosis/engine/diagnose.h"
#include "diagnosis/schedule/what_if.h"
#include "diagnosis/watch/watch.h"

namespace {

using fathom::collector::Recording;
using fathom::diagnosis::OpKind;
using fathom::diagnosis::ScheduledOp;
using fathom::diagnosis::ScheduleTrace;

constexpr int kRuns = 10;

double Best(const std::function<void()>& run) {
  double best = 1e30;
  for (int i = 0; i < kRuns; ++i) {
    const std::clock_t begin = std::clock();
    run();
    best = std::min(best, 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

// One forward, one backward, as each worker would log it; worker 5 is slow.
class MadeWorker {
 public:
  MadeWorker(std::uint32_t step, std::uint32_t worker, std::mt19937& dice)
      : step_(step), worker_(worker), stage_(worker % kStages), at_(0.01 * stage_), dice_(dice) {}

  std::vector<ScheduledOp> Ops() {
    Put(OpKind::kParamsAllGather, 0, 0.002, true);
    const std::uint32_t warm = kStages - 1 - stage_;
    for (std::uint32_t i = 0; i < warm; ++i) Forward();
    for (std::uint32_t i = warm; i < kMicroBatches; ++i) Forward(), Backward();
    for (std::uint32_t i = 0; i < warm; ++i) Backward();
    Put(OpKind::kGradsReduceScatter, 0, 0.004, true);
    Put(OpKind::kClipGradients, 0, 0.001, true);
    Put(OpKind::kOptimizer, 0, 0.003, true);
    std::stable_sort(ops_.begin(), ops_.end(), [](const ScheduledOp& a, const ScheduledOp& b) {
      return a.start_s < b.start_s;
    });
    return std::move(ops_);
  }

  static constexpr std::uint32_t kStages = 8, kReplicas = 4, kMicroBatches = 75, kSteps = 9;

 private:
  void Put(OpKind kind, std::uint32_t number, double seconds, bool waits) {
    ScheduledOp op;
    op.step = step_;
    op.worker = worker_;
    op.kind = kind;
    op.chunk = 0;
    op.model_chunk = static_cast<std::int16_t>(stage_);
    op.sequence = static_cast<std::int32_t>(number);
    op.start_s = at_;
    op.duration_s = seconds;
    ops_.push_back(op);
    at_ += (waits ? seconds : 0) + 1e-4;
  }
  double Computing(double seconds) { return seconds * noise_(dice_) * (worker_ == 5 ? 1.3 : 1); }
  void Forward() {
    if (stage_ > 0) Put(OpKind::kForwardRecv, forward_, 0.0005, true);
    Put(OpKind::kForwardCompute, forward_, Computing(0.01), true);
    if (stage_ + 1 < kStages) Put(OpKind::kForwardSend, forward_, 0.0005, false);
    ++forward_;
  }
  void Backward() {
    if (stage_ + 1 < kStages) Put(OpKind::kBackwardRecv, backward_, 0.0005, true);
    Put(OpKind::kBackwardCompute, backward_, Computing(0.02), true);
    if (stage_ > 0) Put(OpKind::kBackwardSend, backward_, 0.0005, false);
    ++backward_;
  }

  const std::uint32_t step_, worker_, stage_;
  double at_;
  std::mt19937& dice_;
  std::normal_distribution<double> noise_{1, 0.03};
  std::uint32_t forward_ = 0, backward_ = 0;
  std::vector<ScheduledOp> ops_;
};

ScheduleTrace MadeTrace() {
  ScheduleTrace trace;
  std::mt19937 dice(1);
  const std::uint32_t workers = MadeWorker::kReplicas * MadeWorker::kStages;
  for (std::uint32_t w = 0; w < workers; ++w) {
    trace.workers.push_back({static_cast<std::int32_t>(w / MadeWorker::kStages),
                             static_cast<std::int32_t>(w % MadeWorker::kStages),
                             fathom::RankId(w)});
  }
  for (std::uint32_t step = 0; step < MadeWorker::kSteps; ++step) {
    trace.steps.push_back(step);
    for (std::uint32_t w = 0; w < workers; ++w) {
      const std::vector<ScheduledOp> ops = MadeWorker(step, w, dice).Ops();
      trace.ops.insert(trace.ops.end(), ops.begin(), ops.end());
    }
  }
  return trace;
}

bool MeasureTrace(const std::string& name, const Recording& recording, double import) {
  const auto& trace = recording.view.schedule;
  std::string missing;
  const auto replay = fathom::diagnosis::Replay::Of(trace, missing);
  if (!replay) {
    std::fprintf(stderr, "%s: cannot be replayed without %s\n", name.c_str(), missing.c_str());
    return false;
  }
  const double plan = Best([&] { fathom::diagnosis::Replay::Of(trace, missing); });
  const double figures = Best([&] { fathom::diagnosis::WhatIfOf(trace, *replay); });
  const fathom::diagnosis::DiagnosisConfig config;
  const double all = Best([&] { Diagnose(recording.view, Watch(recording.view, config), config); });
  std::printf("%-32s %9zu %8.2f %8.2f %8.2f %8.2f\n", name.c_str(), trace.ops.size(), import, plan,
              figures, all);
  return true;
}

bool Measure(const std::string& path) {
  const fathom::collector::ndtimeline::NdtimelineImporter importer;
  Recording recording;
  const absl::Status read = importer.Read({path}, {}, recording);
  if (!read.ok()) {
    std::fprintf(stderr, "%s\n", std::string(read.message()).c_str());
    return false;
  }
  const double import = Best([&] {
    Recording again;
    (void)importer.Read({path}, {}, again);
  });
  return MeasureTrace(path.substr(path.rfind('/') + 1), recording, import);
}

bool MeasureMade() {
  Recording recording;
  recording.view.schedule = MadeTrace();
  recording.view.world_size = MadeWorker::kReplicas * MadeWorker::kStages;
  return MeasureTrace("made", recording, 0);
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("%-32s %9s %8s %8s %8s %8s   ms\n", "trace", "ops", "import", "order", "what-if",
              "diagnose");
  bool measured = argc > 1;
  for (int i = 1; i < argc; ++i) {
    const bool made = std::string(argv[i]) == "--made";
    measured = (made ? MeasureMade() : Measure(argv[i])) && measured;
  }
  return measured ? 0 : 1;
}
