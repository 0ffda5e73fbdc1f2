// The executable `fathom-fleet`: the agents of a simulated job, playing to a collector.
//
// Started by `fathom simulate --collector` and `--experiment endtoend`, which take the same
// options: a program of its own, so that `fathom` need not load gRPC. Exit codes as of `fathom`: 0
// nothing found, 1 failure, 2 a culprit was told.
#include <sys/prctl.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "collector/cli/command/get_command.h"
#include "collector/cli/command/scenario_choice.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/run/verdict_narrator.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"
#include "collector/fleet/agent_messages.h"
#include "collector/fleet/end_to_end.h"
#include "collector/fleet/live_play.h"
#include "collector/simulate/experiment/cpu_time.h"
#include "collector/simulate/experiment/plot_files.h"
#include "collector/simulate/experiment/trial.h"
#include "collector/simulate/trial/score.h"

namespace fathom::simulate {
namespace {

constexpr std::uint16_t kDefaultHttpPort = 7070;
constexpr std::chrono::seconds kConnectTimeout{10};
// More for each node: over loopback a collector asks the kernel whose each connection is.
constexpr std::chrono::milliseconds kConnectANode{25};

struct Options {
  std::string scenario, collector, collector_http, job, experiment;
  std::string output = "text";
  std::uint64_t seed = 0;
  std::uint32_t ranks = 0;
  std::string svg;
  bool markdown = false;
  double pace_s = 0;  // 0: as the job runs
  int runs = 0;
  bool exit_zero = false;
};

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "fathom simulate: %s\n", std::string(status.message()).c_str());
  return cli::kFailure;
}

// Interrupted or told to end; stays so.
std::function<bool()> StoppedBy(const cli::SignalGate& gate) {
  return [&gate, stopped = false]() mutable {
    for (const signalfd_siginfo& signal : gate.Take()) {
      stopped = stopped || signal.ssi_signo == SIGINT || signal.ssi_signo == SIGTERM;
    }
    return stopped;
  };
}

double PaceOf(const Options& options, const Rehearsal& rehearsal) {
  if (options.pace_s > 0) return options.pace_s;
  return MedianOf(rehearsal.outcome.iteration_s);
}

cli::Json Figures(const Scenario& job, const Rehearsal& rehearsal, const RowLog& rows,
                  const PlayOutcome& outcome) {
  const Traffic& t = outcome.until_verdict;
  cli::Json told = cli::Json::array();
  for (const Told& one : outcome.convictions) {
    told.push_back({{"cause", one.verdict.cause},
                    {"ranks", one.verdict.ranks},
                    {"grade", one.verdict.grade},
                    {"mark", std::string(ToString(MarkOf(job, ToVerdict(one.verdict))))}});
  }
  const std::size_t ranks = rehearsal.ranks.size();
  return {{"truth", TruthOf(job)},
          {"told", told},
          {"ranks", ranks},
          {"nodes", FleetNodes(job).size()},
          {"iterations", outcome.iterations},
          {"interrupted", outcome.interrupted},
          {"verdict_iteration", outcome.verdict_iteration},
          {"localising_s", outcome.localising_s},
          {"since_fault_s", outcome.since_fault_s},
          {"fetching_s", outcome.fetching_s},
          {"fetch_rounds", outcome.rounds},
          {"row_requests", t.requests},
          {"rows_fetched", t.ops},
          {"row_bytes", t.rows + t.row_requests},
          {"summary_bytes", t.summaries},
          {"other_bytes", t.others},
          {"ops_played", rehearsal.outcome.ops_played},
          {"iterations_made_late", rows.made_late()}};
}

std::string InWords(const cli::Json& f) {
  std::string out = cli::Cat("\nTruth: ", cli::TextField(f, "truth"), "\n");
  for (const cli::Json& told : cli::ListField(f, "told")) {
    cli::AppendTo(&out, "Told: ", cli::TextField(told, "cause"), ", ",
                  cli::TextField(told, "grade"), ": ", cli::TextField(told, "mark"), "\n");
  }
  if (cli::ListField(f, "told").empty()) out += "Told: nobody was convicted\n";
  if (cli::IntField(f, "verdict_iteration") >= 0) {
    cli::AppendTo(&out, "Localised ", cli::Seconds(cli::NumberField(f, "localising_s")),
                  " after the agents began to tell of iteration ",
                  cli::IntField(f, "verdict_iteration"), "\n");
  }
  cli::AppendTo(&out, "Played: ", cli::IntField(f, "iterations"), " iterations of ",
                cli::IntField(f, "ranks"), " ranks on ", cli::IntField(f, "nodes"),
                " nodes. Moved: ", cli::IntField(f, "summary_bytes"), " bytes of summaries; ",
                cli::IntField(f, "rows_fetched"), " rows in ", cli::IntField(f, "row_bytes"),
                " bytes, ", cli::IntField(f, "row_requests"), " requests in ",
                cli::IntField(f, "fetch_rounds"), " rounds, until the first verdict; the job logs ",
                cli::IntField(f, "ops_played"), " ops\n");
  if (const auto late = cli::IntField(f, "iterations_made_late"); late > 0) {
    cli::AppendTo(&out, "Times hold making ", late,
                  " iterations anew, whose rows a real agent would have had at hand\n");
  }
  if (cli::BoolField(f, "interrupted")) out += "Interrupted: this is what was done until then.\n";
  return out;
}

absl::StatusOr<cli::HostPort> HttpOf(const Options& options) {
  if (!options.collector_http.empty()) return cli::ParseHostPort(options.collector_http);
  auto grpc = cli::ParseHostPort(options.collector);
  if (grpc.ok()) grpc->port = kDefaultHttpPort;
  return grpc;
}

int PlayTo(const Options& options, const std::function<bool()>& stopped) {
  const auto job = cli::ChooseScenario(options.scenario, options.seed, options.ranks);
  if (!job.ok()) return Fail(job.status());
  if (job->plan.WorldSize() < 2) {
    return Fail(absl::InvalidArgumentError("a job of one rank has nothing to tell a collector"));
  }
  const auto http = HttpOf(options);
  if (!http.ok()) return Fail(http.status());
  const std::string name = options.job.empty() ? "sim-" + job->name : options.job;
  cli::VerdictNarrator narrator(cli::LookAtTerminal(1));
  const bool text = options.output == "text";
  VerdictWatch watch(*http, name, [&](const cli::VerdictView& verdict) {
    if (!text) return;
    std::fputs(narrator.OnVerdict(verdict).c_str(), stdout);
    std::fflush(stdout);
  });
  if (absl::Status open = watch.Open(); !open.ok()) return Fail(open);
  const std::vector<std::string> nodes = FleetNodes(*job);
  Fleet fleet(options.collector, nodes);
  const auto patience = kConnectTimeout + kConnectANode * static_cast<int>(nodes.size());
  const absl::Status connected = fleet.Connect(std::chrono::steady_clock::now() + patience);
  if (!connected.ok()) return Fail(connected);
  const Rehearsal rehearsal = Rehearse(*job, CpuSeconds, stopped);
  RowLog rows(*job, rehearsal);
  LivePlay play(*job, rehearsal, rows, fleet, watch,
                {.job = name, .pace_s = PaceOf(options, rehearsal), .stopped = stopped});
  const auto outcome = play.Run();
  if (!outcome.ok()) return Fail(outcome.status());
  const cli::Json figures = Figures(*job, rehearsal, rows, *outcome);
  std::fputs(text ? InWords(figures).c_str() : cli::Serialize(figures, "json").c_str(), stdout);
  return outcome->convictions.empty() || options.exit_zero ? cli::kNothingFound
                                                           : cli::kCulpritFound;
}

int Experiment(const Options& options, const std::function<bool()>& stopped,
               const cli::SignalGate& gate) {
  ExperimentOptions experiment = ExperimentOnStdout(options.seed, options.svg);
  experiment.runs = options.runs;
  experiment.markdown = options.markdown;
  experiment.stopped = stopped;
  absl::Status done;
  PrintAndPlot("endtoend", experiment, [&](const ExperimentOptions& heard) {
    done = EndToEnd(heard, options.ranks, gate);
  });
  return done.ok() ? cli::kNothingFound : Fail(done);
}

int Run(const Options& options) {
  const cli::SignalGate gate;
  const auto stopped = StoppedBy(gate);
  if (options.experiment == "endtoend") return Experiment(options, stopped, gate);
  return PlayTo(options, stopped);
}

void Describe(CLI::App& app, Options& o) {
  app.add_option("SCENARIO", o.scenario, "name of a scenario, or a YAML file");
  app.add_option("--collector", o.collector, "where agents connect (gRPC)");
  app.add_option("--collector-http", o.collector_http, "where its verdicts are read");
  app.add_option("--job", o.job, "name of the job");
  app.add_option("--pace", o.pace_s, "seconds between iterations from the first fault on");
  app.add_option("--seed", o.seed, "of all random numbers");
  app.add_option("--ranks", o.ranks, "so many ranks");
  app.add_option("--experiment", o.experiment, "endtoend")->check(CLI::IsMember({"endtoend"}));
  app.add_option("--svg", o.svg, "folder for its plot");
  app.add_flag("--markdown", o.markdown, "with the link to its plot");
  app.add_option("--runs", o.runs, "of a row of the experiment");
  app.add_option("-o,--output", o.output, "text or json")->check(CLI::IsMember({"text", "json"}));
  app.add_flag("--exit-zero", o.exit_zero, "exit with 0 even when a culprit was told");
}

}  // namespace
}  // namespace fathom::simulate

int main(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // whoever asked for it is gone
  CLI::App app("Plays the agents of a simulated job; see `fathom simulate --collector`");
  fathom::simulate::Options options;
  fathom::simulate::Describe(app, options);
  CLI11_PARSE(app, argc, argv);
  return fathom::simulate::Run(options);
}
