// `fathom simulate NAME|FILE.yaml`: the engine on a job that is made up, with a fault that is
// known.
//
// Exit codes as of analyze: 0 nothing found, 1 failure, 2 a verdict is established or supported.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "collector/cli/command/get_command.h"
#include "collector/cli/command/scenario_choice.h"
#include "collector/cli/command/verb.h"
#include "collector/cli/process/child_process.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/report/analysis_page.h"
#include "collector/cli/run/installation.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"
#include "collector/import/analysis.h"
#include "collector/simulate/experiment/cpu_time.h"
#include "collector/simulate/experiment/experiment.h"
#include "collector/simulate/experiment/plot_files.h"
#include "collector/simulate/experiment/table_plot.h"
#include "collector/simulate/kineto/trace_files.h"
#include "collector/simulate/play/operator_log.h"
#include "collector/simulate/scenario/library.h"
#include "collector/simulate/scenario/scenario_yaml.h"
#include "collector/simulate/trial/score.h"
#include "collector/simulate/trial/session.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom simulate --list                   the jobs that come with the program\n"
    "  fathom simulate slow_gpu_4d\n"
    "  fathom simulate my_job.yaml --ranks 8192 --seed 7\n"
    "  fathom simulate --experiment scale --runs 20\n"
    "  fathom simulate slow_gpu_fsdp --ranks 16 --kineto traces/ && fathom analyze traces/\n"
    "  fathom simulate slow_gpu_4d --collector 127.0.0.1:7071   agents of it, to a collector\n"
    "Keys of a scenario: docs/formats/scenario.md. Interrupted, it prints what was done so far.\n"
    "Exit code: 2 when a verdict is established or supported, 0 when there is none.";

struct SimulateOptions {
  std::string scenario;
  std::string experiment, page;
  std::string output = "text";
  std::string collector, collector_http, job;
  std::string svg, plot, operators, config, kineto;
  std::int64_t steps = 5, first = -1;  // of the window of the traces
  double pace_s = 0;
  std::uint64_t seed = 0;
  std::uint32_t ranks = 0;
  std::size_t window = 48;
  int runs = 0;
  bool list = false;
  bool markdown = false;
  bool exit_zero = false;
};

volatile std::sig_atomic_t interrupted = 0;  // set by the handler, which can reach nothing else

void Interrupt(int) { interrupted = 1; }

// Restores what was there before.
class InterruptGuard {
 public:
  InterruptGuard() : before_(std::signal(SIGINT, Interrupt)) {}
  ~InterruptGuard() { std::signal(SIGINT, before_); }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  void (*before_)(int);
};

std::string AboutOf(const simulate::LibraryEntry& entry) {
  const auto scenario = simulate::ParseScenario(entry.text, entry.name);
  return scenario.ok() ? scenario->about : std::string(scenario.status().message());
}

int List() {
  std::size_t widest = 0;
  for (const auto& entry : simulate::ScenarioLibrary()) {
    widest = std::max(widest, std::string_view(entry.name).size());
  }
  for (const auto& entry : simulate::ScenarioLibrary()) {
    std::string name(entry.name);
    name.resize(widest + 2, ' ');
    std::fputs(Cat(name, AboutOf(entry), "\n").c_str(), stdout);
  }
  std::fputs("\nExperiments:", stdout);
  for (const auto& name : simulate::ExperimentNames()) std::fputs(Cat(" ", name).c_str(), stdout);
  std::fputs("\n", stdout);
  return kNothingFound;
}

Json ScoreJson(const simulate::Scenario& scenario, const simulate::Outcome& outcome,
               const simulate::Score& score) {
  return {{"truth", simulate::TruthOf(scenario)},
          {"mark", std::string(simulate::ToString(score.mark))},
          {"top1", score.top1},
          {"all_found", score.all_found},
          {"seed", scenario.seed},
          {"iterations", outcome.iterations},
          {"interrupted", outcome.interrupted},
          {"ops_played", outcome.ops_played},
          {"ops_fetched", outcome.fetched.ops},
          {"fetch_rounds", outcome.fetched.rounds},
          {"first_verdict_iteration", outcome.first_verdict},
          {"simulating_s", outcome.simulating_s},
          {"looking_s", outcome.looking_s},
          {"localising_s", outcome.localising_s},
          {"wrong", score.wrong}};
}

std::string ScoreText(const simulate::Scenario& scenario, const simulate::Outcome& outcome,
                      const simulate::Score& score) {
  std::string out =
      Cat("\nTruth: ", simulate::TruthOf(scenario), "\nSaid: ", simulate::ToString(score.mark));
  if (outcome.first_verdict >= 0) {
    AppendTo(&out, ", first after iteration ", outcome.first_verdict, ", ",
             Seconds(outcome.localising_s), " to localise");
  }
  AppendTo(&out, "\n");
  for (const std::string& wrong : score.wrong) AppendTo(&out, "  wrong: ", wrong, "\n");
  AppendTo(&out, "Played: ", outcome.iterations, " iterations, ", outcome.ops_played, " ops in ",
           Seconds(outcome.simulating_s), "; looked at by the engine: ", outcome.fetched.ops,
           " ops of ", outcome.fetched.ranks, " ranks, fetched ", outcome.fetched.rounds,
           " times, ", Seconds(outcome.looking_s), "\n");
  if (outcome.interrupted) AppendTo(&out, "Interrupted: this is what was done until then.\n");
  return out;
}

int SimulateOne(const SimulateOptions& options) {
  const auto scenario = ChooseScenario(options.scenario, options.seed, options.ranks);
  if (!scenario.ok()) return Fail("simulate", scenario.status());
  auto thresholds = ThresholdsOf("simulate", options.config);
  if (!thresholds.ok()) return Fail("simulate", thresholds.status());
  simulate::SessionOptions session_options;
  session_options.config = *std::move(thresholds);
  session_options.window = options.window;
  session_options.now = simulate::CpuSeconds;
  session_options.stopped = [] { return interrupted != 0; };
  simulate::Session session(*scenario, session_options);
  const simulate::Outcome outcome = session.Run();
  const simulate::Score score = simulate::ScoreOf(*scenario, outcome);
  collector::Recording recording;
  recording.source = "simulation";
  recording.view = session.view();
  Json report = Json::parse(collector::ReportOf(recording, session_options.config), nullptr, false);
  if (report.is_discarded()) return Fail("simulate", absl::InternalError("the report is no JSON"));
  const bool found = outcome.first_verdict >= 0;
  if (options.output == "json") {
    report["simulation"] = ScoreJson(*scenario, outcome, score);
    std::fputs(Serialize(report, "json").c_str(), stdout);
  } else {
    std::fputs(AnalysisPage(report, {}, LookAtTerminal(1)).c_str(), stdout);
    std::fputs(ScoreText(*scenario, outcome, score).c_str(), stdout);
  }
  return found && !options.exit_zero ? kCulpritFound : kNothingFound;
}

using Hear = std::function<void(const std::string&)>;

// Reads a pipe whose other end a child has, to its end.
void HearOut(const int (&ends)[2], const Hear& hear) {
  close(ends[1]);
  char text[4096];
  for (;;) {
    const ssize_t got = read(ends[0], text, sizeof text);
    if (got > 0) hear(std::string(text, static_cast<std::size_t>(got)));
    if (got == 0 || (got < 0 && errno != EINTR)) break;
  }
  close(ends[0]);
}

// Its exit code. An interruption from the terminal reaches it as well: it ends by itself. What it
// prints goes to `hear`; empty: where ours goes.
int RunToItsEnd(std::vector<std::string> line, const Hear& hear) {
  std::vector<char*> argv;
  for (std::string& word : line) argv.push_back(word.data());
  argv.push_back(nullptr);
  int ends[2] = {-1, -1};
  if (hear && pipe2(ends, O_CLOEXEC) != 0) {
    return Fail("simulate", absl::ErrnoToStatus(errno, "a pipe"));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (hear) posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (hear) HearOut(ends, hear);
  if (error != 0) return Fail("simulate", absl::ErrnoToStatus(error, line.front()));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return ExitCodeOfStatus(status);
}

// The same options for fathom-fleet, which speaks gRPC.
int Fleet(const SimulateOptions& options, const Hear& hear = {}) {
  const Installation here = ThisInstallation();
  if (here.fleet.empty()) {
    return Fail("simulate", absl::UnavailableError(Cat("fathom-fleet is not beside this program (",
                                                       here.folder.string(), ")")));
  }
  std::vector<std::string> line = {here.fleet.string()};
  const auto add = [&line](const char* name, const std::string& value) {
    if (!value.empty() && value != "0") line.insert(line.end(), {name, value});
  };
  if (options.experiment.empty()) line.push_back(options.scenario);
  add("--experiment", options.experiment.empty() ? "" : "endtoend");
  add("--collector", options.collector);
  add("--collector-http", options.collector_http);
  add("--job", options.job);
  add("--pace", options.pace_s > 0 ? absl::StrCat(options.pace_s) : "");
  add("--seed", Cat(options.seed));
  add("--ranks", Cat(options.ranks));
  add("--runs", Cat(options.runs));
  add("--output", options.output);
  if (options.exit_zero) line.push_back("--exit-zero");
  return RunToItsEnd(line, hear);
}

int Experiment(const SimulateOptions& options) {
  auto experiment = simulate::ExperimentOnStdout(options.seed, options.svg);
  experiment.runs = options.runs;
  experiment.markdown = options.markdown || !options.page.empty();
  experiment.stopped = [] { return interrupted != 0; };
  experiment.end_to_end = [&options](const Hear& hear) {
    return Fleet(options, hear) == kNothingFound;
  };
  if (!options.page.empty()) {
    const auto page = simulate::ReadPage(options.page);
    if (!page.ok()) return Fail("simulate", page.status());
    experiment.section = simulate::SectionsInto(options.page);
  }
  const absl::Status done = simulate::RunExperiments(options.experiment, experiment);
  return done.ok() ? kNothingFound : Fail("simulate", done);
}

constexpr std::uint32_t kRanksInLog = 32;

// The log of ops that a forest can learn from.
int WriteLog(const SimulateOptions& options) {
  const auto scenario = ChooseScenario(options.scenario, options.seed, options.ranks);
  if (!scenario.ok()) return Fail("simulate", scenario.status());
  std::ofstream file(options.operators, std::ios::binary | std::ios::trunc);
  simulate::WriteOperators(*scenario, kRanksInLog, [&](const std::string& line) { file << line; });
  file.close();
  if (file) return kNothingFound;
  return Fail("simulate",
              absl::UnavailableError(Cat("'", options.operators, "' cannot be written")));
}

// Traces as torch.profiler writes them, with the truth beside them.
int WriteKineto(const SimulateOptions& options) {
  const auto scenario = ChooseScenario(options.scenario, options.seed, options.ranks);
  if (!scenario.ok()) return Fail("simulate", scenario.status());
  simulate::kineto::Window window{.first = options.first, .iterations = options.steps};
  if (window.first < 0) {
    window.first = scenario->faults.empty() ? 10 : scenario->faults.front().from;
  }
  const auto written = simulate::kineto::WriteTraces(*scenario, window, options.kineto);
  if (!written.ok()) return Fail("simulate", written.status());
  if (options.output == "json") {
    std::fputs(written->truth.c_str(), stdout);
    return kNothingFound;
  }
  std::fputs(Cat("Traces of ", written->ranks, " ranks, iterations ", window.first, " to ",
                 window.first + window.iterations - 1, ", ", Seconds(written->seconds),
                 " (without a fault ", Seconds(written->well_seconds), "), in ", options.kineto,
                 "\nTruth: ", simulate::TruthOf(*scenario), "; in truth.json as well\n",
                 "Try: fathom analyze ", options.kineto, "\n")
                 .c_str(),
             stdout);
  return kNothingFound;
}

// The plots of a page that was printed before.
int PlotPage(const SimulateOptions& options) {
  std::ifstream file(options.plot, std::ios::binary);
  if (!file || options.svg.empty()) {
    return Fail("simulate", absl::InvalidArgumentError(
                                Cat("--plot needs a page that can be read, and --svg DIR")));
  }
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto write = simulate::PlotsInto(options.svg);
  for (const simulate::NamedPlot& plot : simulate::PlotsOfPage(page)) write(plot.name, plot.svg);
  return kNothingFound;
}

int Simulate(const SimulateOptions& options) {
  if (options.list) return List();
  if (!options.plot.empty()) return PlotPage(options);
  const InterruptGuard guard;
  if (!options.experiment.empty()) return Experiment(options);
  if (options.scenario.empty()) {
    return Fail("simulate", absl::InvalidArgumentError("name a scenario, or see --list"));
  }
  if (!options.operators.empty()) return WriteLog(options);
  if (!options.kineto.empty()) return WriteKineto(options);
  if (!options.collector.empty()) return Fleet(options);
  return SimulateOne(options);
}

}  // namespace

void AddSimulateVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb = root.add_subcommand("simulate", "Try the engine on a job with a known fault");
  auto options = std::make_shared<SimulateOptions>();
  verb->add_option("SCENARIO", options->scenario, "name of a scenario, or a YAML file");
  verb->add_flag("--list", options->list, "list scenarios and experiments");
  verb->add_option("--seed", options->seed, "of all random numbers")->type_name("N");
  verb->add_option("--ranks", options->ranks, "data-parallel replicas for so many ranks")
      ->type_name("N");
  verb->add_option("--window", options->window, "iterations that the centre keeps")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--collector", options->collector,
                   "play its agents to this collector (gRPC), as fast as the job would run")
      ->type_name("HOST:PORT");
  verb->add_option("--collector-http", options->collector_http, "where its verdicts are read")
      ->type_name("HOST:PORT");
  verb->add_option("--job", options->job, "name of the job at the collector")->type_name("NAME");
  verb->add_option("--pace", options->pace_s,
                   "seconds between iterations from the first fault on, at a collector")
      ->type_name("S");
  verb->add_option("--experiment", options->experiment, "tables of many runs, or all")
      ->type_name("NAME,NAME");
  verb->add_option("--runs", options->runs, "of a row of the experiment")->type_name("N");
  verb->add_option("--page", options->page,
                   "also write the experiments into this page, each when it is done")
      ->type_name("FILE");
  verb->add_flag("--markdown", options->markdown, "with the headings and text of a page");
  verb->add_option("--operators", options->operators,
                   "write its ops, each with whether it is abnormal, and stop")
      ->type_name("FILE");
  verb->add_option(
          "--kineto", options->kineto,
          "write traces into this folder as torch.profiler does, with truth.json, and stop")
      ->type_name("DIR");
  verb->add_option("--steps", options->steps, "iterations of the traces")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--first", options->first,
                   "first iteration of the traces (default: that of the first fault)")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--config", options->config,
                   "judge with the thresholds of this file, of which diagnosis: is taken")
      ->type_name("FILE");
  verb->add_option("--svg", options->svg, "folder for the plots of experiments")->type_name("DIR");
  verb->add_option("--plot", options->plot, "draw the plots of this page of experiments again")
      ->type_name("FILE");
  verb->add_option("-o,--output", options->output, "text or json")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  verb->add_flag("--exit-zero", options->exit_zero, "exit with 0 even when a culprit was found");
  verb->footer(kExamples);
  verb->callback(
      [invocation, options] { invocation->action = [options] { return Simulate(*options); }; });
}

}  // namespace fathom::cli
