// How long an NDTimeline trace takes from file to figures.
//
// Usage: what_if_bench TRACE.parquet…    prints the best of ten runs of each part, in milliseconds
// on the core.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>

#include "collector/import/ndtimeline/ndtimeline_importer.h"
#include "diagnosis/engine/diagnose.h"
#include "diagnosis/schedule/what_if.h"
#include "diagnosis/watch/watch.h"

namespace {

using fathom::collector::Recording;

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

bool Measure(const std::string& path) {
  const fathom::collector::ndtimeline::NdtimelineImporter importer;
  Recording recording;
  const absl::Status read = importer.Read({path}, {}, recording);
  if (!read.ok()) {
    std::fprintf(stderr, "%s\n", std::string(read.message()).c_str());
    return false;
  }
  const auto& trace = recording.view.schedule;
  std::string missing;
  const auto replay = fathom::diagnosis::Replay::Of(trace, missing);
  if (!replay) {
    std::fprintf(stderr, "%s: cannot be replayed without %s\n", path.c_str(), missing.c_str());
    return false;
  }
  const double import = Best([&] {
    Recording again;
    (void)importer.Read({path}, {}, again);
  });
  const double plan = Best([&] { fathom::diagnosis::Replay::Of(trace, missing); });
  const double figures = Best([&] { fathom::diagnosis::WhatIfOf(trace, *replay); });
  const fathom::diagnosis::DiagnosisConfig config;
  const double all = Best([&] { Diagnose(recording.view, Watch(recording.view, config), config); });
  std::printf("%-32s %9zu %8.2f %8.2f %8.2f %8.2f\n", path.substr(path.rfind('/') + 1).c_str(),
              trace.ops.size(), import, plan, figures, all);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("%-32s %9s %8s %8s %8s %8s   ms\n", "trace", "ops", "import", "order", "what-if",
              "diagnose");
  bool measured = argc > 1;
  for (int i = 1; i < argc; ++i) measured = Measure(argv[i]) && measured;
  return measured ? 0 : 1;
}
