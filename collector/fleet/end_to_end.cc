#include "collector/fleet/end_to_end.h"

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collector/fleet/agent_messages.h"
#include "collector/fleet/live_play.h"
#include "collector/fleet/own_collector.h"
#include "collector/simulate/experiment/table_text.h"
#include "collector/simulate/experiment/tables.h"
#include "collector/simulate/experiment/trial.h"
#include "collector/simulate/play/draw.h"
#include "collector/simulate/trial/score.h"

namespace fathom::simulate {
namespace {

constexpr std::chrono::seconds kConnectTimeout{30};
// Longer than a localisation takes, so that it is known which iteration a verdict is about. Large
// jobs have such iterations.
constexpr double kPaceS = 3;
constexpr double kLingerS = 30;

struct Row {
  int runs = 0, told = 0, right = 0, as_in_process = 0;
  std::vector<double> localising_s, iterations;
  Traffic traffic;
  std::uint64_t rounds = 0;
  std::uint64_t ops_logged = 0;
  std::uint64_t summaries = 0;  // told until then, a rank's each
};

absl::StatusOr<PlayOutcome> Play(const Scenario& job, const Rehearsal& rehearsal,
                                 const ExperimentOptions& options, const cli::SignalGate& gate) {
  auto collector = OwnCollector::Start(gate);
  if (!collector.ok()) return collector.status();
  RowLog rows(job, rehearsal);
  VerdictWatch watch((*collector)->http(), job.name, nullptr);
  if (absl::Status open = watch.Open(); !open.ok()) return open;
  Fleet fleet((*collector)->grpc().ToString(), FleetNodes(job));
  absl::Status connected = fleet.Connect(std::chrono::steady_clock::now() + kConnectTimeout);
  if (!connected.ok()) return connected;
  LivePlay play(job, rehearsal, rows, fleet, watch,
                {.job = job.name,
                 .pace_s = kPaceS,
                 .linger_s = kLingerS,
                 .until_verdict = true,
                 .stopped = options.stopped});
  return play.Run();
}

bool AsInProcess(const Rehearsal& rehearsal, const diagnosis::Verdict& told) {
  for (const diagnosis::Verdict& verdict : rehearsal.outcome.ever) {
    if (verdict.cause == told.cause && verdict.entity.ranks == told.entity.ranks) return true;
  }
  return false;
}

void Add(const Scenario& job, const Rehearsal& rehearsal, const PlayOutcome& outcome, Row& row) {
  ++row.runs;
  if (outcome.verdict_iteration < 0) return;
  const diagnosis::Verdict told = ToVerdict(outcome.convictions.front().verdict);
  ++row.told;
  row.right += MarkOf(job, told) == Mark::kRight;
  row.as_in_process += AsInProcess(rehearsal, told);
  row.localising_s.push_back(outcome.localising_s);
  row.iterations.push_back(
      static_cast<double>(outcome.verdict_iteration + 1 - job.faults.front().from));
  row.traffic += outcome.until_verdict;
  row.rounds += static_cast<std::uint64_t>(outcome.rounds);
  const auto iterations = static_cast<std::uint64_t>(outcome.verdict_iteration + 1);
  row.ops_logged += rehearsal.outcome.ops_played /
                    static_cast<std::uint64_t>(rehearsal.outcome.iterations) * iterations;
  row.summaries += iterations * rehearsal.ranks.size();
}

std::string Percent(double part, double whole) {
  return absl::StrFormat("%.3f", whole > 0 ? 100 * part / whole : 0.0);
}

Cells CellsOf(std::uint32_t ranks, const Row& row) {
  const double ops = static_cast<double>(row.traffic.ops), runs = std::max(1, row.told);
  const double op_bytes = ops > 0 ? static_cast<double>(row.traffic.rows) / ops : 0;
  const double moved = static_cast<double>(row.traffic.rows + row.traffic.row_requests);
  const double watched = static_cast<double>(row.traffic.summaries);
  return {absl::StrCat(ranks),
          absl::StrCat(row.runs),
          absl::StrCat(row.told),
          Share(row.right, row.runs),
          absl::StrCat(row.as_in_process),
          absl::StrFormat("%.2f", MedianOf(row.localising_s)),
          HolmesSeconds(ranks),
          absl::StrFormat("%.0f", MedianOf(row.iterations)),
          absl::StrFormat("%.1f", static_cast<double>(row.rounds) / runs),
          absl::StrFormat("%.0f", static_cast<double>(row.traffic.requests) / runs),
          absl::StrFormat("%.2f", 1e-6 * moved / runs),
          Percent(moved, static_cast<double>(row.ops_logged) * op_bytes),
          absl::StrFormat("%.0f", watched / std::max(1.0, static_cast<double>(row.summaries))),
          Percent(moved + watched, static_cast<double>(row.ops_logged) * op_bytes)};
}

}  // namespace

absl::Status EndToEnd(const ExperimentOptions& options, std::uint32_t ranks,
                      const cli::SignalGate& gate) {
  PrintHeading(options,
               {"ranks", "runs", "told", "right, %", "as in process", "localising, s (median)",
                "Holmes, s", "slow iterations until the verdict", "rounds", "requests",
                "rows moved, MB", "of a full log, %", "summary, bytes a rank and iteration",
                "rows and summaries of a full log, %"});
  for (const std::uint32_t scale : {512, 2048, 8192}) {
    if (ranks != 0 && ranks != scale) continue;
    Row row;
    for (int i = 0; i < RunsOr(options, 3); ++i) {
      if (options.stopped && options.stopped()) break;
      const Scenario job = DrawCostJob(scale, options.seed + static_cast<std::uint64_t>(i));
      const Rehearsal rehearsal = Rehearse(job, options.now, options.stopped);
      if (rehearsal.outcome.interrupted) break;
      const auto outcome = Play(job, rehearsal, options, gate);
      if (!outcome.ok()) return outcome.status();
      if (!outcome->interrupted) Add(job, rehearsal, *outcome, row);
    }
    PrintRow(options, CellsOf(scale, row));
  }
  double load = 0;
  getloadavg(&load, 1);
  options.print(absl::StrFormat("\nOn %d cores, with a load of %.1f at the end.\n",
                                std::thread::hardware_concurrency(), load));
  return absl::OkStatus();
}

}  // namespace fathom::simulate
