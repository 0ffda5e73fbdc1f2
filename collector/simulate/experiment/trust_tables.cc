// Is anybody accused who should not be, is the class of the problem right, and what does it cost?
#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collector/simulate/experiment/table_text.h"
#include "collector/simulate/experiment/tables.h"
#include "collector/simulate/experiment/trial.h"
#include "collector/simulate/play/draw.h"

namespace fathom::simulate {
namespace {

struct HealthyRow {
  const char* name;
  int dimensions;
  double sequence_sigma, jitter_rate, kernel_sigma;
};

struct ClassRow {
  const char* name;
  FaultKind kind;
  double factor;
};

}  // namespace

void FalseAlarms(const ExperimentOptions& options) {
  PrintHeading(options, {"healthy jobs of 128 ranks", "runs", "jobs with a false conviction"});
  constexpr HealthyRow kRows[] = {{"as calibrated, 3-D", 3, 0, 2e-4, 0.01},
                                  {"as calibrated, 4-D", 4, 0, 2e-4, 0.01},
                                  {"routing of tokens varies, 6-D", 6, 0, 2e-4, 0.01},
                                  {"sequences differ (sigma 0.1)", 4, 0.1, 2e-4, 0.01},
                                  {"sequences differ (sigma 0.3)", 4, 0.3, 2e-4, 0.01},
                                  {"host jitter 25 times as often", 4, 0, 5e-3, 0.01},
                                  {"kernels vary (sigma 0.1)", 4, 0, 2e-4, 0.1}};
  Tally all;
  for (const HealthyRow& row : kRows) {
    const Tally t = RunTrials(
        RunsOr(options, 143),
        [&row](std::uint64_t seed) {
          Scenario job = DrawJob(128, row.dimensions, seed);
          job.noise.sequence_sigma = row.sequence_sigma;
          job.noise.host_jitter_rate = row.jitter_rate;
          job.noise.kernel_sigma = row.kernel_sigma;
          return job;
        },
        options);
    PrintRow(options, {row.name, absl::StrCat(t.runs), absl::StrCat(t.runs - t.Of(Mark::kRight))});
    all.Add(t);
  }
  PrintRow(options, {"all", absl::StrCat(all.runs), absl::StrCat(all.runs - all.Of(Mark::kRight))});
  PrintStories(options, all);
}

// C4's four classes: what was the matter, against what was said.
void ByClass(const ExperimentOptions& options) {
  PrintHeading(options, {"what was the matter", "runs", "nothing said", "communication hang",
                         "communication slow", "non-communication hang", "non-communication slow"});
  constexpr ClassRow kRows[] = {{"a link hangs", FaultKind::kHangLink, 1},
                                {"a NIC is slow", FaultKind::kSlowNic, 6},
                                {"NVLink is slow", FaultKind::kSlowNvlink, 6},
                                {"a process hangs", FaultKind::kHangProcess, 1},
                                {"a GPU is slow", FaultKind::kSlowGpu, 1.4},
                                {"a host is slow", FaultKind::kSlowHost, 1.4}};
  for (const ClassRow& row : kRows) {
    const Tally t = RunTrials(
        RunsOr(options, 5),
        [&row](std::uint64_t seed) {
          Scenario job = DrawJob(512, 4, seed);
          job.faults = {DrawFault(job, row.kind, row.factor, seed)};
          return job;
        },
        options);
    Cells cells = {row.name, absl::StrCat(t.runs)};
    for (int count : t.classes) cells.push_back(absl::StrCat(count));
    PrintRow(options, cells);
  }
}

void CostByScale(const ExperimentOptions& options) {
  PrintHeading(options, {"ranks", "runs", "told", "localising: one look, CPU ms (median)",
                         "Holmes, s", "slow iterations until the verdict (median)",
                         "ops fetched of ops logged until then, %", "rounds", "ops simulated, M"});
  for (const std::uint32_t ranks : {512, 2048, 8192, 32768, 131072}) {
    const char* const holmes = HolmesSeconds(ranks);
    const Tally t = RunTrials(
        RunsOr(options, ranks > 8192 ? 1 : 3),
        [ranks](std::uint64_t seed) { return DrawCostJob(ranks, seed); }, options);
    if (t.localising_s.empty()) {
      PrintRow(options,
               {absl::StrCat(ranks), absl::StrCat(t.runs), "0", "–", holmes, "–", "–", "–", "–"});
      continue;
    }
    const double logged = std::max(1.0, static_cast<double>(t.ops_logged));
    PrintRow(options,
             {absl::StrCat(ranks), absl::StrCat(t.runs), absl::StrCat(t.localising_s.size()),
              absl::StrFormat("%.0f", 1e3 * MedianOf(t.localising_s)), holmes,
              absl::StrFormat("%.0f", MedianOf(t.iterations_to_verdict)),
              absl::StrFormat("%.3f", 100 * static_cast<double>(t.ops_fetched) / logged),
              absl::StrFormat("%.1f", t.runs > 0 ? static_cast<double>(t.rounds) / t.runs : 0.0),
              absl::StrFormat("%.0f", 1e-6 * logged)});
  }
}

void OverTheNetwork(const ExperimentOptions& options) {
  if (options.end_to_end && options.end_to_end(options.print)) return;
  options.print("Not run: it needs fathom-fleet and fathom-collector beside this program.\n");
}

}  // namespace fathom::simulate
