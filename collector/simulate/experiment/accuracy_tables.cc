// Is the culprit named? By scale, dimensions, kind and size of the fault, and two at once.
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collector/simulate/experiment/table_text.h"
#include "collector/simulate/experiment/tables.h"
#include "collector/simulate/experiment/trial.h"
#include "collector/simulate/play/draw.h"

namespace fathom::simulate {
namespace {

constexpr double kUsualFactor = 1.4;
// A transfer is a small part of these jobs' iterations: a fault that matters is a large one.
constexpr double kNetworkFactor = 6;
constexpr std::uint32_t kUsualRanks = 512;
constexpr std::uint32_t kFewRanks = 128;  // where a row needs many runs

struct ShapeRow {
  const char* name;
  std::span<const FaultKind> kinds;
  double factor;
};

constexpr FaultKind kOfRank[] = {FaultKind::kSlowGpu, FaultKind::kSlowMemory,
                                 FaultKind::kSlowProcess, FaultKind::kGarbage,
                                 FaultKind::kDataLoader};
constexpr FaultKind kOfHost[] = {FaultKind::kSlowHost};
constexpr FaultKind kNetwork[] = {FaultKind::kSlowNic, FaultKind::kSlowNvlink, FaultKind::kSlowPath,
                                  FaultKind::kSlowLeaf};
constexpr FaultKind kUnequal[] = {FaultKind::kStageImbalance, FaultKind::kSequenceImbalance};
constexpr FaultKind kMore[] = {FaultKind::kGrowth};
constexpr FaultKind kOfNetwork[] = {FaultKind::kSlowNic, FaultKind::kSlowNvlink,
                                    FaultKind::kSlowPath, FaultKind::kSlowLeaf,
                                    FaultKind::kSlowSpine};
constexpr FaultKind kOfWork[] = {FaultKind::kStageImbalance, FaultKind::kSequenceImbalance,
                                 FaultKind::kExpertImbalance, FaultKind::kGrowth};
constexpr ShapeRow kShapeRows[] = {{"a rank", kOfRank, 1.5},
                                   {"a host", kOfHost, 1.5},
                                   {"the network", kNetwork, kNetworkFactor},
                                   {"unequal work", kUnequal, 2},
                                   {"more work for all", kMore, 1.5}};

Scenario WithFault(Scenario job, FaultKind kind, double factor) {
  job.faults = {DrawFault(job, kind, factor, job.seed)};
  return job;
}

bool OfNetwork(FaultKind kind) {
  return kind >= FaultKind::kSlowNic && kind <= FaultKind::kSlowSpine;
}

}  // namespace

void ByScale(const ExperimentOptions& options) {
  PrintHeading(options, Joined({"ranks"}, Joined(MarkHeading(), {"Holmes, %"})));
  Tally all;
  constexpr std::pair<std::uint32_t, const char*> kRows[] = {
      {512, "–"}, {1024, "–"}, {2048, "97.2"}, {4096, "–"}, {8192, "88.2"}};
  for (const auto& row : kRows) {
    const std::uint32_t ranks = row.first;
    const Tally t = RunTrials(
        RunsOr(options, ranks > 4096 ? 5 : 10),
        [ranks](std::uint64_t seed) {
          return WithFault(DrawJob(ranks, 4, seed), DrawRankKind(seed), kUsualFactor);
        },
        options);
    PrintRow(options, Joined({absl::StrCat(ranks)}, Joined(MarkCells(t), {row.second})));
    all.Add(t);
  }
  PrintGrades(options, all);
  PrintWorst(options, all);
  PrintStories(options, all);
}

void ByDimensions(const ExperimentOptions& options) {
  PrintHeading(options, Joined({"dimensions"}, Joined(MarkHeading(), {"Holmes, %"})));
  Tally all;
  constexpr std::pair<int, const char*> kRows[] = {{3, "94.6"}, {4, "89.6"}, {5, "–"}, {6, "86.0"}};
  for (const auto& row : kRows) {
    const int dimensions = row.first;
    const Tally t = RunTrials(
        RunsOr(options, 20),
        [dimensions](std::uint64_t seed) {
          return WithFault(DrawJob(kUsualRanks, dimensions, seed), DrawRankKind(seed),
                           kUsualFactor);
        },
        options);
    PrintRow(options, Joined({absl::StrCat(dimensions)}, Joined(MarkCells(t), {row.second})));
    all.Add(t);
  }
  PrintGrades(options, all);
  PrintUntold(options, all);
  PrintWorst(options, all);
  PrintStories(options, all);
}

void ByKind(const ExperimentOptions& options) {
  PrintHeading(options, Joined({"fault"}, MarkHeading()));
  Tally all;
  for (int k = 0; k <= static_cast<int>(FaultKind::kHangLink); ++k) {
    const auto kind = static_cast<FaultKind>(k);
    const int dimensions = kind == FaultKind::kExpertImbalance ? 6 : 4;
    const double factor = OfNetwork(kind) ? kNetworkFactor : kUsualFactor;
    const Tally t = RunTrials(
        RunsOr(options, 5),
        [=](std::uint64_t seed) {
          return WithFault(DrawJob(kUsualRanks, dimensions, seed), kind, factor);
        },
        options);
    PrintRow(options, Joined({std::string(ToString(kind))}, MarkCells(t)));
    all.Add(t);
  }
  PrintGrades(options, all);
  PrintWorst(options, all);
  PrintStories(options, all);
}

void ByDevice(const ExperimentOptions& options) {
  PrintHeading(options, Joined({"what was the matter"}, MarkHeading()));
  Tally all;
  const auto row = [&](FaultKind kind, double factor, bool told) {
    const int dimensions = kind == FaultKind::kExpertImbalance ? 6 : 4;
    const Tally t = RunTrials(
        RunsOr(options, 20),
        [=](std::uint64_t seed) {
          Scenario job = DrawJob(kFewRanks, dimensions, seed);
          job.cluster.nodes_per_leaf = 4;
          job.cluster.flows_told = told;
          return WithFault(job, kind, factor);
        },
        options);
    const std::string what(ToString(kind));
    PrintRow(options, Joined({what + (told ? ", times of each peer" : "")}, MarkCells(t)));
    all.Add(t);
  };
  for (const FaultKind kind : kOfNetwork) {
    row(kind, kNetworkFactor, false);
    row(kind, kNetworkFactor, true);
  }
  for (const FaultKind kind : kOfWork) row(kind, kUsualFactor, false);
  PrintGrades(options, all);
  PrintWorst(options, all);
  PrintStories(options, all);
}

void BySize(const ExperimentOptions& options) {
  PrintHeading(options, Joined({"kernels take × as long"}, MarkHeading()));
  Tally all;
  for (double factor : {1.05, 1.1, 1.2, 1.5, 2.0}) {
    const Tally t = RunTrials(
        RunsOr(options, 10),
        [factor](std::uint64_t seed) {
          return WithFault(DrawJob(kUsualRanks, 4, seed), FaultKind::kSlowGpu, factor);
        },
        options);
    PrintRow(options, Joined({absl::StrFormat("%.2f", factor)}, MarkCells(t)));
    all.Add(t);
  }
  PrintWorst(options, all);
  PrintStories(options, all);
}

void TwoAtOnce(const ExperimentOptions& options) {
  PrintHeading(options, {"second fault: a GPU whose kernels take × as long", "runs",
                         "first in the list is one of the two, %", "both named, %", "wrong"});
  Tally all;
  for (double factor : {1.4, 1.3, 1.2}) {
    const Tally t = RunTrials(
        RunsOr(options, 10),
        [factor](std::uint64_t seed) {
          Scenario job = WithFault(DrawJob(kUsualRanks, 4, seed), DrawRankKind(seed), kUsualFactor);
          job.faults.push_back(DrawFault(job, FaultKind::kSlowGpu, factor, seed + 7777));
          return job;
        },
        options);
    PrintRow(options, {absl::StrFormat("%.1f", factor), absl::StrCat(t.runs), Share(t.top1, t.runs),
                       Share(t.all_found, t.runs), absl::StrCat(t.Of(Mark::kWrong))});
    all.Add(t);
  }
  PrintWorst(options, all);
  PrintStories(options, all);
}

void ByShape(const ExperimentOptions& options) {
  PrintHeading(options, Joined({"what was the matter"}, MarkHeading()));
  Tally all;
  for (const ShapeRow& row : kShapeRows) {
    const Tally t = RunTrials(
        RunsOr(options, 40),
        [&row](std::uint64_t seed) {
          return WithFault(DrawShape(seed), row.kinds[seed % row.kinds.size()], row.factor);
        },
        options);
    PrintRow(options, Joined({row.name}, MarkCells(t)));
    all.Add(t);
  }
  PrintGrades(options, all);
  PrintStories(options, all);
}

}  // namespace fathom::simulate
