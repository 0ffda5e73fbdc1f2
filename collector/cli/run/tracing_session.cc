#include "collector/cli/run/tracing_session.h"

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <cstdlib>

#include "collector/cli/http/access.h"
#include "collector/cli/run/served_folder.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr std::chrono::milliseconds kReadyTimeout{5000};
// The agent promises to send what is left within 2 s.
constexpr std::chrono::milliseconds kAgentGrace{3000};
// What it learnt of the run is in its store by then, where there is one.
constexpr std::chrono::milliseconds kCollectorGrace{1000};
constexpr std::uint16_t kDefaultHttpPort = 7070;

absl::Status Missing(std::string_view part, const Installation& installation) {
  return absl::UnavailableError(Cat(part, " is not beside this program (",
                                    installation.folder.string(), "); see `fathom doctor`"));
}

absl::Status CheckInstallation(const Installation& installation, bool own_collector) {
  if (installation.tracer.empty()) return Missing("libfathom.so", installation);
  if (installation.agent.empty()) return Missing("fathomd", installation);
  if (own_collector && installation.collector.empty()) {
    return Missing("fathom-collector", installation);
  }
  return absl::OkStatus();
}

// Whoever watches one job of his own wants it seen finely; a service's node gets fathomd's
// defaults.
void AddOwnBudget(std::vector<std::string>& argv) {
  struct Limit {
    const char* variable;
    const char* flag;
    const char* value;
  };
  for (const Limit& limit : {Limit{"FATHOM_BUDGET_CPU", "--budget-cpu", "5"},
                             Limit{"FATHOM_BUDGET_MIB", "--budget-mib", "0"},
                             Limit{"FATHOM_BUDGET_KBIT", "--budget-kbit", "0"}}) {
    if (std::getenv(limit.variable) == nullptr) argv.insert(argv.end(), {limit.flag, limit.value});
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<TracingSession>> TracingSession::Start(
    const SessionOptions& options, const Installation& installation, const SignalGate& gate) {
  const bool own = options.collector.empty();
  if (absl::Status s = CheckInstallation(installation, own); !s.ok()) return s;
  std::unique_ptr<TracingSession> out(new TracingSession());
  const Deadline deadline = In(kReadyTimeout);
  absl::StatusOr<std::unique_ptr<RunFolder>> folder = RunFolder::Make(options.shm_root);
  if (!folder.ok()) return folder.status();
  out->folder_ = *std::move(folder);
  out->shm_dir_ = out->folder_->rings().string();
  absl::Status ready =
      own ? out->StartCollector(options, installation, gate, deadline) : out->UseTheirs(options);
  if (ready.ok() && out->notice_.empty()) {
    ready = out->StartAgent(options, installation, gate, deadline);
  }
  if (!ready.ok()) return ready;
  absl::StatusOr<Environment> environment = TracedEnvironment(
      CurrentEnvironment(), {installation.preload.string(), installation.site.string(),
                             out->shm_dir_, options.job, options.trace, options.profile});
  if (!environment.ok()) return environment.status();
  out->environment_ = *std::move(environment);
  return out;
}

absl::Status TracingSession::StartCollector(const SessionOptions& options,
                                            const Installation& installation,
                                            const SignalGate& gate, Deadline deadline) {
  const std::string http = options.http.empty() ? "127.0.0.1:0" : options.http;
  const std::string store = options.history.empty() ? ":memory:" : options.history;
  // In the run's own folder, which nobody else may enter: no port that others could reach.
  const std::string socket = (folder_->path() / "agents.sock").string();
  std::vector<std::string> argv = {installation.collector.string(),
                                   "--grpc",
                                   "off",
                                   "--agent-socket",
                                   socket,
                                   "--http",
                                   http,
                                   "--store",
                                   store,
                                   "--parent-death-signal"};
  if (!options.ops.empty()) {
    argv.insert(argv.end(), {"--stream", "ops", "--ops-store", options.ops});
  }
  absl::StatusOr<std::unique_ptr<Companion>> collector = Companion::Start(
      {"fathom-collector", std::move(argv), folder_->path() / "collector.log", kCollectorGrace},
      gate, deadline);
  if (!collector.ok()) return collector.status();
  const Listening& listening = (*collector)->listening();
  if (!listening.contains("http")) {
    return absl::UnavailableError("fathom-collector did not say where it listens");
  }
  agents_ = Cat("unix:", socket);
  http_ = listening.at("http");
  collector_ = *std::move(collector);
  return absl::OkStatus();
}

absl::Status TracingSession::UseTheirs(const SessionOptions& options) {
  // Of several collectors any answers for all jobs.
  const std::vector<std::string> all = absl::StrSplit(options.collector, ',', absl::SkipEmpty());
  absl::StatusOr<HostPort> grpc = ParseHostPort(all.empty() ? "" : all.front());
  if (!grpc.ok()) return grpc.status();
  agents_ = all.size() == 1 ? grpc->ToString() : absl::StrJoin(all, ",");
  absl::StatusOr<HostPort> http =
      ServerOf(options.collector_http.empty() ? HostPort{grpc->host, kDefaultHttpPort}.ToString()
                                              : options.collector_http,
               AccessFromEnvironment());
  if (!http.ok()) return http.status();
  http_ = *std::move(http);
  const std::string node_folder = NodeShmFolder();
  if (IsServed(node_folder)) {
    shm_dir_ = node_folder;
    notice_ = Cat("the agent of this node serves ", node_folder,
                  " already; it decides to which collector it reports",
                  options.record.empty() ? "" : " and whether it records");
  }
  return absl::OkStatus();
}

absl::Status TracingSession::StartAgent(const SessionOptions& options,
                                        const Installation& installation, const SignalGate& gate,
                                        Deadline deadline) {
  std::vector<std::string> argv = {installation.agent.string(),
                                   "--collector",
                                   agents_,
                                   "--http",
                                   "127.0.0.1:0",
                                   "--shm-dir",
                                   shm_dir_,
                                   "--parent-death-signal"};
  if (!options.record.empty()) argv.insert(argv.end(), {"--record", options.record});
  if (!options.stack_tool.empty()) {
    argv.insert(argv.end(), {"--stack-tool", options.stack_tool});
  }
  if (options.collector.empty()) AddOwnBudget(argv);
  absl::StatusOr<std::unique_ptr<Companion>> agent = Companion::Start(
      {"fathomd", std::move(argv), folder_->path() / "agent.log", kAgentGrace}, gate, deadline);
  if (!agent.ok()) return agent.status();
  agent_ = *std::move(agent);
  return absl::OkStatus();
}

std::string TracingSession::OnReaped(pid_t pid, int wait_status) {
  if (agent_ != nullptr && agent_->OnReaped(pid, wait_status)) {
    return Cat(agent_->Obituary(), "; the command goes on, no longer watched");
  }
  if (collector_ != nullptr && collector_->OnReaped(pid, wait_status)) {
    return Cat(collector_->Obituary(), "; the command goes on, without verdicts");
  }
  return "";
}

std::vector<int> TracingSession::output_fds() const {
  std::vector<int> out;
  for (const Companion* each : {collector_.get(), agent_.get()}) {
    if (each != nullptr && each->alive()) out.push_back(each->stdout_fd());
  }
  return out;
}

void TracingSession::Drain() const {
  for (const Companion* each : {collector_.get(), agent_.get()}) {
    if (each != nullptr && each->alive()) each->Drain();
  }
}

void TracingSession::EndAgent() {
  if (agent_ != nullptr) agent_->Stop(kAgentGrace);
}

}  // namespace fathom::cli
