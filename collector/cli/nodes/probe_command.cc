// `fathom probe`: measures this node, and says whether it is slower than it was or computes wrong.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <system_error>

#include "collector/cli/command/get_command.h"
#include "collector/cli/command/verb.h"
#include "collector/cli/nodes/probe_command.h"
#include "collector/cli/probe/ordered_probes.h"
#include "collector/cli/probe/probe_history.h"
#include "collector/cli/probe/probe_process.h"
#include "collector/cli/probe/probe_view.h"
#include "collector/cli/probe/traced_processes.h"
#include "collector/cli/process/signal_gate.h"
#include "collector/cli/run/installation.h"
#include "collector/cli/run/served_folder.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"
#include "collector/probe/probe_run.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom probe\n"
    "  fathom probe --full --folder /scratch\n"
    "  fathom probe --probes exact,memory_pattern -o json\n"
    "  fathom probe --nodes node7,node8     (by the collector, operators only)\n"
    "  fathom probe --job train             (nodes that its verdicts name, and peers)\n"
    "Exit codes: 0 nothing found, or switched off; 2 it is slow or faulty; 1 it was not probed.\n"
    "It is never run beside a traced process, unless --beside-training says so.";

constexpr std::chrono::minutes kPatience{30};
constexpr std::chrono::minutes kOrderPatience{90};

struct ProbeOptions {
  bool full = false, beside_training = false, no_history = false;
  std::string probes, folder = "/tmp", format = "table", history, program;
  std::string off_file = "/etc/fathom/probe.off";
  double seconds = 0;
  std::uint32_t memory_mib = 0;  // 0: what the program takes by itself
  bool exit_zero = false;
  CollectorOptions collector;
  std::string nodes, job;
  int peers = 3;
};

std::vector<std::string> ArgumentsOf(const ProbeOptions& options) {
  std::vector<std::string> argv = {options.program, "--folder", options.folder};
  if (options.memory_mib > 0) {
    argv.insert(argv.end(), {"--memory-mib", std::to_string(options.memory_mib)});
  }
  if (options.full) argv.push_back("--full");
  if (!options.probes.empty()) argv.insert(argv.end(), {"--probes", options.probes});
  if (options.seconds > 0) {
    argv.insert(argv.end(), {"--seconds", std::to_string(options.seconds)});
  }
  return argv;
}

absl::Status MayProbe(const ProbeOptions& options) {
  if (options.beside_training) return absl::OkStatus();
  const auto pids = TracedProcesses(NodeShmFolder(), "/dev/shm");
  if (pids.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(Cat(pids.size(), " traced processes run here (",
                                           pids.front(), pids.size() > 1 ? ", …" : "",
                                           "); a probe would slow them down: --beside-training"));
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "this node";
}

std::int64_t WallNow() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

absl::StatusOr<v1::NodeProbe> Measure(const ProbeOptions& options) {
  const std::int64_t began = WallNow();
  absl::StatusOr<v1::NodeProbe> run = RunProbeProcess(ArgumentsOf(options), kPatience);
  if (!run.ok()) return run;
  run->set_node(HostName());
  run->set_began_wall_ns(began);
  return run;
}

// A history that cannot be kept is said and changes nothing else.
void Judge(const ProbeOptions& options, v1::NodeProbe& run) {
  const fs::path file = options.history.empty() ? DefaultProbeHistory() : fs::path(options.history);
  ProbeHistory history;
  if (!options.no_history) history = ReadProbeHistory(file);
  if (history.unreadable > 0) {
    std::fprintf(stderr, "fathom probe: %zu lines of %s cannot be read\n", history.unreadable,
                 file.c_str());
  }
  collector::JudgeRun({}, history.runs, {}, run);
  if (options.no_history) return;
  history.runs.push_back(run);
  const absl::Status kept = WriteProbeHistory(file, history);
  if (!kept.ok()) std::fprintf(stderr, "fathom probe: %s\n", Message(kept).c_str());
}

// On other nodes. What this command line says of this node (its disk, its history) is theirs.
int RunOrdered(const ProbeOptions& options) {
  const absl::StatusOr<CollectorApi> api = ApiOf(options.collector);
  if (!api.ok()) return Fail("probe", api.status());
  const ProbeOrderWish wish{.nodes = options.nodes,
                            .job = options.job,
                            .probes = options.probes,
                            .peers = options.peers,
                            .seconds = options.seconds,
                            .memory_mib = options.memory_mib,
                            .full = options.full,
                            .beside_training = options.beside_training};
  const SignalGate gate;
  const absl::StatusOr<Json> order =
      OrderProbes(*api, wish, kOrderPatience, [&] { return !gate.Take().empty(); });
  if (!order.ok()) {
    const int code = Fail("probe", order.status());
    return absl::IsCancelled(order.status()) ? kInterrupted : code;
  }
  const std::string out =
      IsText(options.format) ? OrderedProbesText(*order) : Serialize(*order, options.format);
  std::fputs(out.c_str(), stdout);
  if (!AnyMeasured(*order)) return kFailure;
  return AnyFound(*order) && !options.exit_zero ? kCulpritFound : kNothingFound;
}

int RunProbe(ProbeOptions options) {
  if (!options.nodes.empty() || !options.job.empty()) return RunOrdered(options);
  std::error_code ignored;
  if (fs::exists(options.off_file, ignored)) {
    std::fprintf(stderr, "fathom probe: switched off by %s\n", options.off_file.c_str());
    return kNothingFound;
  }
  if (options.program.empty()) options.program = ThisInstallation().folder / "fathom-probe";
  if (const absl::Status may = MayProbe(options); !may.ok()) return Fail("probe", may);
  absl::StatusOr<v1::NodeProbe> run = Measure(options);
  if (!run.ok()) {
    const int code = Fail("probe", run.status());
    return absl::IsCancelled(run.status()) ? kInterrupted : code;
  }
  Judge(options, *run);
  const std::string out =
      IsText(options.format)
          ? ProbeText(*run)
          : Serialize(Json::parse(collector::ProbeRunJson(*run)), options.format);
  std::fputs(out.c_str(), stdout);
  return collector::FoundSomething(*run) && !options.exit_zero ? kCulpritFound : kNothingFound;
}

}  // namespace

void AddProbeVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb =
      root.add_subcommand("probe", "Measure this node, or others: cores, GPUs, memory, disk");
  auto options = std::make_shared<ProbeOptions>();
  verb->add_flag("--full,!--fast", options->full, "the long set, two minutes [the fast one, 20 s]");
  verb->add_option("--probes", options->probes, "only these, like exact,disk [all]")
      ->type_name("LIST");
  verb->add_option("--seconds", options->seconds, "of all probes together [by the set]")
      ->check(CLI::Range(0.1, 3600.0));
  verb->add_option("--memory-mib", options->memory_mib,
                   "the memory a probe may take [512, of a GPU's 2048]")
      ->check(CLI::Range(1, 1 << 20));
  verb->add_option("--folder", options->folder, "the disk that is probed")->capture_default_str();
  verb->add_flag("--beside-training", options->beside_training,
                 "also while a traced process runs here");
  verb->add_option("--history", options->history, "the file of earlier runs")->type_name("FILE");
  verb->add_flag("--no-history", options->no_history, "compare with nothing, keep nothing");
  verb->add_option("--off-file", options->off_file, "where this file is, nothing is probed")
      ->type_name("FILE")
      ->capture_default_str();
  verb->add_option("--program", options->program, "fathom-probe [beside this one]")
      ->type_name("FILE");
  auto* nodes = verb->add_option("--nodes", options->nodes, "other nodes, by the collector");
  nodes->type_name("A,B");
  verb->add_option("--job", options->job, "the nodes that verdicts of a job name, and peers")
      ->type_name("JOB")
      ->excludes(nodes);
  verb->add_option("--peers", options->peers, "nodes of the job to compare with")
      ->check(CLI::Range(0, 16))
      ->capture_default_str();
  AddCollectorOptions(*verb, &options->collector, false);
  verb->add_flag("--exit-zero", options->exit_zero, "exit 0, not 2, when something was found");
  AddFormatOption(*verb, &options->format, "table, json or yaml");
  verb->footer(kExamples);
  verb->callback(
      [invocation, options] { invocation->action = [options] { return RunProbe(*options); }; });
}

}  // namespace fathom::cli
