// `fathom recover node look|stop|start`: what the torchrun back-end runs on a node. Hidden: people
// use `run` and `undo`. An answer is one line of JSON; exit code 2: there is no such process.
#include <cstdio>
#include <memory>

#include "collector/cli/nodes/recover_planning.h"
#include "collector/cli/remedy/backend/launcher_process.h"
#include "collector/cli/text/exit_code.h"

namespace fathom::cli {
namespace {

constexpr const char* kProc = "/proc";

struct NodeOptions {
  std::int64_t rank_pid = 0;
  Launcher launcher;
  std::string tag, log = "/dev/null";
  std::vector<std::string> command;
  double grace_s = 60;
};

absl::StatusOr<Launcher> Found(const NodeOptions& options) {
  if (!options.tag.empty()) return LauncherTagged(kProc, options.tag);
  if (options.rank_pid != 0) return LauncherOf(kProc, options.rank_pid);
  if (StillThere(kProc, options.launcher)) return options.launcher;
  return absl::NotFoundError("it has ended");
}

int Answer(const absl::StatusOr<Json>& answer) {
  if (answer.ok()) {
    std::printf("%s\n", answer->dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    return kNothingFound;
  }
  Fail("recover node", answer.status());
  return absl::IsNotFound(answer.status()) ? kCulpritFound : kFailure;
}

int LookAt(const NodeOptions& options) {
  const auto launcher = Found(options);
  if (!launcher.ok()) return Answer(launcher.status());
  return Answer(TellLauncher(kProc, *launcher));
}

int StopIt(const NodeOptions& options) {
  const auto launcher = Found(options);
  if (!launcher.ok()) return Answer(launcher.status());
  const auto grace = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * options.grace_s));
  if (auto stopped = StopLauncher(kProc, *launcher, grace); !stopped.ok()) return Answer(stopped);
  return Answer(Json{{"pid", launcher->pid}, {"ended", true}});
}

int StartIt(const NodeOptions& options) {
  const auto launcher = StartLauncher(kProc, options.tag, options.log, options.command);
  if (!launcher.ok()) return Answer(launcher.status());
  return Answer(Json{{"pid", launcher->pid}, {"start", launcher->start}});
}

void AddWhich(CLI::App& verb, NodeOptions* options) {
  verb.add_option("--tag", options->tag, "as it was started");
  verb.add_option("--pid", options->rank_pid, "of a rank below it");
  verb.add_option("--launcher", options->launcher.pid, "its own");
  verb.add_option("--start", options->launcher.start, "ticks at which it began");
}

}  // namespace

void AddRecoverNode(CLI::App& verb, Invocation* invocation) {
  auto options = std::make_shared<NodeOptions>();
  CLI::App* node = verb.add_subcommand("node", "The job's torchrun on this node");
  node->group("");
  node->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, int (*act)(const NodeOptions&)) {
    CLI::App* part = node->add_subcommand(name, help);
    part->callback([invocation, options, act] {
      invocation->action = [options, act] { return act(*options); };
    });
    return part;
  };
  AddWhich(*add("look", "what it is", &LookAt), options.get());
  CLI::App* stop = add("stop", "ends it", &StopIt);
  AddWhich(*stop, options.get());
  stop->add_option("--grace", options->grace_s, "seconds until it is killed");
  CLI::App* start = add("start", "starts one", &StartIt);
  start->add_option("--tag", options->tag, "by which it is known")->required();
  start->add_option("--log", options->log, "its output")->required();
  start->add_option("COMMAND", options->command, "torchrun and its words")->required();
}

}  // namespace fathom::cli
