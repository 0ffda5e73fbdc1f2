// Prints what played jobs whose communication runs beside computing are charged with: the tables of
// docs/rules/ledger.md, "Communication beside computing". Not a test.
#include <cstdio>
#include <string>
#include <utility>

#include "tests/diagnosis/overlap/charges.h"

namespace fathom::diagnosis::testing {
namespace {

using What = DeviceStep::What;

void Print(const std::string& what, const OverlappedJob& job) {
  const Charges charges = ChargesOf(job);
  std::printf("%-44s %7.1f %6.2f %7.2f %7.2f %7.2f %7.2f  %s\n", what.c_str(), charges.iteration_ms,
              charges.iteration_ms - charges.healthy_ms, charges.by_rows_ms, charges.all_by_rows_ms,
              charges.by_summaries_ms, charges.all_by_summaries_ms,
              charges.verdicts.empty() ? "none" : charges.verdicts.c_str());
}

OverlappedJob Ddp(double slower, std::size_t buckets) {
  OverlappedJob job;
  job.program = DdpProgram(30, 60, 5, 20, buckets);
  job.slower = slower;
  return job;
}

// Each layer's weights are gathered while the layer before it computes, its gradients are scattered
// while the next one does; both by way of a further stream, which is made to wait as well.
std::vector<DeviceStep> FsdpProgram(std::size_t layers) {
  std::vector<DeviceStep> program;
  std::size_t op = 0;
  const auto gather = [&] {
    program.push_back({.what = What::kLaunch,
                       .ms = 0.6,
                       .op = op++,
                       .stream = 1,
                       .waits = 3,
                       .kind = CollectiveKind::kAllGather});
  };
  const double forward = 30.0 / static_cast<double>(layers);
  for (const double ms : {forward, 2 * forward}) {
    std::size_t gathered = op;
    gather();
    for (std::size_t layer = 0; layer < layers; ++layer) {
      program.push_back({.what = What::kWait, .op = gathered});
      gathered = op;
      if (layer + 1 < layers) gather();
      program.push_back({.what = What::kCompute, .ms = ms});
      if (ms == forward) continue;
      program.push_back({.what = What::kLaunch,
                         .ms = 0.5,
                         .op = op++,
                         .stream = 2,
                         .waits = 3,
                         .kind = CollectiveKind::kReduceScatter});
    }
  }
  program.push_back({.what = What::kWait, .op = op - 1});
  program.push_back({.what = What::kCompute, .ms = 5});
  return program;
}

void PrintTable() {
  for (const double slower : {0.0, 0.005, 0.01, 0.1, 0.3}) {
    for (const std::size_t buckets : {10UL, 100UL}) {
      Print(std::to_string(slower * 100) + " % slower, buckets: " + std::to_string(buckets),
            Ddp(slower, buckets));
    }
  }
  for (const double ms : {3.0, 8.0}) {
    OverlappedJob job = Ddp(0, 10);
    for (DeviceStep& step : job.program) step.pairs = step.what == What::kLaunch;
    // A loss that all ranks agree on.
    job.program.push_back({.what = What::kLaunch, .ms = 0.05, .op = 10});
    job.program.push_back({.what = What::kWait, .op = 10});
    job.slow_pair_ms = ms;
    Print("a pair's ops take " + std::to_string(ms) + " ms for 2", job);
  }
}

void PrintOthers() {
  for (const double slower : {0.0, 0.005, 0.1}) {
    OverlappedJob job;
    job.program = FsdpProgram(24);
    job.slower = slower;
    Print("FSDP, slower by " + std::to_string(slower), job);
  }
  OverlappedJob few = Ddp(0.1, 25);
  few.iterations = 20;
  Print("twenty iterations, 10 %", few);
  for (const double slower : {0.0, 0.1}) {
    OverlappedJob streams = Ddp(slower, 40);
    for (DeviceStep& step : streams.program) {
      if (step.what == What::kLaunch) step.stream = step.op % 2;
    }
    Print("two streams, slower by " + std::to_string(slower), streams);
  }
  OverlappedJob missing = Ddp(0.1, 50);
  missing.missing = 5;
  Print("rank 5 missing, 10 %", missing);
  for (const auto& [untold, slower] : {std::pair(5, 0.005), {5, 0.1}, {2, 0.1}}) {
    OverlappedJob old = Ddp(slower, 50);
    old.untold = untold;
    Print("older agent " + std::to_string(untold) + ", by " + std::to_string(slower), old);
  }
  OverlappedJob pause = Ddp(0, 60);
  pause.pause_ms = 12;
  pause.pause_at = 61;
  Print("host pauses 12 ms amid backward", pause);
  pause.pause_at = 0;
  Print("host pauses 12 ms before forward", pause);
  for (const double slower : {0.0, 0.1}) {
    OverlappedJob bound;
    bound.program = DdpProgram(50, 90, 5, 120, 30);
    bound.slower = slower;
    Print("bound by communication, by " + std::to_string(slower), bound);
  }
}

}  // namespace
}  // namespace fathom::diagnosis::testing

int main(int argc, char**) {
  std::printf("%-44s %7s %6s %7s %7s %7s %7s\n", "ms an iteration", "lasts", "costs", "rows",
              "(all)", "summary", "(all)");
  argc > 1 ? fathom::diagnosis::testing::PrintOthers() : fathom::diagnosis::testing::PrintTable();
  return 0;
}
