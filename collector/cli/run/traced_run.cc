#include "collector/cli/run/traced_run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

#include "collector/cli/process/child_process.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr std::chrono::milliseconds kReportTimeout{4000};
constexpr std::chrono::milliseconds kLastLookTimeout{3000};
constexpr std::chrono::milliseconds kLookEvery{50};

using Clock = std::chrono::steady_clock;

bool IsJobControlStop(int signal) {
  return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

// The py-spy of the environment that the command is run from, where it is named by its path; the
// agent of a run is the user's own.
std::string StackToolBeside(const std::string& command) {
  const std::size_t end = command.rfind('/');
  if (end == std::string::npos) return "";
  const std::string tool = command.substr(0, end) + "/py-spy";
  return LookUpCommand(tool) == 0 ? tool : "";
}

}  // namespace

void WriteStderr(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = write(2, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

TracedRun::TracedRun(RunOptions options, Installation installation)
    : options_(std::move(options)),
      installation_(std::move(installation)),
      narrator_(LookAtTerminal(2)) {}

void TracedRun::Say(const std::string& line) const {
  WriteStderr(Cat("fathom: ", Printable(line), "\n"));
}

int TracedRun::Execute() {
  const std::string& name = options_.command[0];
  if (const int error = LookUpCommand(name); error != 0) {
    Say(Cat("cannot run '", name, "': ", std::strerror(error)));
    return ExitCodeOfExecError(name, error);
  }
  StartTracing();
  if (const int failed = StartCommand(); failed != 0) return failed;
  while (!wait_status_) Turn();
  Finish();
  return ExitCodeOfStatus(*wait_status_);
}

void TracedRun::StartTracing() {
  SessionOptions wanted = options_.session;
  wanted.stack_tool = StackToolBeside(options_.command[0]);
  absl::StatusOr<std::unique_ptr<TracingSession>> session =
      TracingSession::Start(wanted, installation_, gate_);
  if (!session.ok()) {
    Say(Cat("not tracing: ", Message(session.status()), "; the command runs untraced"));
    return;
  }
  session_ = *std::move(session);
  if (!session_->notice().empty()) Say(session_->notice());
  if (session_->own_collector()) Say(Cat("page http://", session_->http().ToString(), "/"));
  follower_.emplace(session_->http(), CollectorApi::EventsPath(options_.session.job));
  follower_->Tick(Clock::now());
  if (!session_->own_collector() && !follower_->connected()) {
    Say(Cat("verdicts are not shown here: ",
            UnreachableText(session_->http(), follower_->last_error())));
  }
}

int TracedRun::StartCommand() {
  absl::StatusOr<std::unique_ptr<SignalWitness>> witness = SignalWitness::Start();
  if (witness.ok()) witness_ = *std::move(witness);
  relay_.emplace(witness_ != nullptr);
  const Environment environment = session_ ? session_->environment() : CurrentEnvironment();
  const Spawned spawned = SpawnCommand(options_.command, environment, gate_);
  if (spawned.error != 0) {
    const std::string& name = options_.command[0];
    Say(Cat("cannot run '", name, "': ", std::strerror(spawned.error)));
    return ExitCodeOfExecError(name, spawned.error);
  }
  command_ = spawned.pid;
  return 0;
}

std::vector<pollfd> TracedRun::Wanted() const {
  std::vector<pollfd> out = {{gate_.fd(), POLLIN, 0}};
  if (witness_) out.push_back({witness_->fd(), POLLIN, 0});
  if (follower_ && follower_->connected()) out.push_back({follower_->fd(), POLLIN, 0});
  if (session_) {
    for (const int fd : session_->output_fds()) out.push_back({fd, POLLIN, 0});
  }
  return out;
}

int TracedRun::WaitMs() const {
  std::optional<Clock::time_point> next = relay_->next();
  const bool follow = follower_ && session_ && !session_->collector_lost();
  if (const auto retry = follow ? follower_->next_try() : std::nullopt) {
    next = next ? std::min(*next, *retry) : *retry;
  }
  if (!next) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(0, left.count()));
}

void TracedRun::Turn() {
  std::vector<pollfd> wanted = Wanted();
  poll(wanted.data(), wanted.size(), WaitMs());
  OnSignals();
  if (session_) {
    session_->Drain();
    if (!session_->collector_lost()) OnEvents();
  }
}

void TracedRun::OnSignals() {
  for (const signalfd_siginfo& info : gate_.Take()) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) continue;
    end_asked_ = end_asked_ || signal == SIGINT || signal == SIGTERM || signal == SIGHUP ||
                 signal == SIGQUIT;
    relay_->Arrived(signal, info.ssi_code, static_cast<int>(info.ssi_pid), Clock::now());
  }
  if (witness_) {
    for (const SignalWitness::Report& report : witness_->Take()) {
      relay_->Witnessed(report.signal, report.sender, Clock::now());
    }
  }
  for (const int signal : relay_->Due(Clock::now())) {
    if (command_ > 0 && !wait_status_) kill(command_, signal);
  }
  // Signals coalesce: children are looked at on every turn, not once per SIGCHLD.
  OnChildren();
}

void TracedRun::OnChildren() {
  int status = 0;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
    if (witness_) witness_->OnReaped(pid);
    if (pid == command_) {
      OnCommandStatus(status);
    } else if (session_ && !WIFSTOPPED(status)) {
      const std::string said = session_->OnReaped(pid, status);
      if (!said.empty()) Say(said);
    }
  }
}

void TracedRun::OnCommandStatus(int wait_status) {
  if (!WIFSTOPPED(wait_status)) {
    wait_status_ = wait_status;
  } else if (IsJobControlStop(WSTOPSIG(wait_status))) {
    // The shell waits for us: stop as the command did, so that it takes the terminal back.
    raise(SIGSTOP);
  }
}

void TracedRun::OnEvents() {
  follower_->Tick(Clock::now());
  for (const ServerEvent& event : follower_->Receive(Clock::now())) {
    const Json told = Json::parse(event.data, nullptr, /*allow_exceptions=*/false);
    if (!told.is_object()) continue;
    if (event.name == "verdict") WriteStderr(narrator_.OnVerdict(ReadVerdict(told)));
    if (event.name == "job") WriteStderr(narrator_.OnJob(told, Clock::now()));
  }
}

void TracedRun::Finish() {
  witness_.reset();
  if (!session_) return;
  session_->EndAgent();
  if (session_->collector_lost()) {
    if (!options_.report.empty()) Say("no report: the collector is gone");
    return WriteStderr(narrator_.Summary(Json::object()));
  }
  OnEvents();
  const Json report = FetchReport();
  if (!report.empty()) WriteReport(report);
  WriteStderr(narrator_.Summary(report));
  if (options_.hold) Hold();
}

void TracedRun::AwaitLastLook(const CollectorApi& api) const {
  const Clock::time_point deadline = Clock::now() + kLastLookTimeout;
  while (Clock::now() < deadline) {
    const absl::StatusOr<Json> jobs = api.Jobs();
    if (!jobs.ok()) return;
    const Json& all = ListField(*jobs, "jobs");
    const auto ours = std::find_if(all.begin(), all.end(), [&](const Json& job) {
      return TextField(job, "name") == options_.session.job;
    });
    if (ours == all.end() || TextField(*ours, "state") == "ended") return;
    std::this_thread::sleep_for(kLookEvery);
  }
}

Json TracedRun::FetchReport() const {
  HttpClient::Options options;
  options.timeout = kReportTimeout;
  const CollectorApi api(HttpClient(session_->http(), options));
  AwaitLastLook(api);
  absl::StatusOr<Json> report = api.Report(options_.session.job);
  if (report.ok()) return *std::move(report);
  // A job that the collector never heard of is one of which nothing was traced.
  if (absl::IsNotFound(report.status())) return Json{{"schema", "fathom.v1.Report"}};
  if (session_->own_collector() || !options_.report.empty()) {
    Say(Cat("no report: ", Message(report.status())));
  }
  return Json::object();
}

void TracedRun::WriteReport(const Json& report) const {
  if (options_.report.empty()) return;
  std::ofstream file(options_.report, std::ios::trunc);
  file << report.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  file.flush();
  if (!file) Say(Cat("the report could not be written to ", options_.report));
}

void TracedRun::Hold() {
  if (!session_->own_collector() || end_asked_) return;
  Say(Cat("the command has ended; the page stays at http://", session_->http().ToString(),
          "/ until Ctrl-C"));
  while (!end_asked_ && !session_->collector_lost()) {
    std::vector<pollfd> wanted = Wanted();
    poll(wanted.data(), wanted.size(), -1);
    OnSignals();
    session_->Drain();
    OnEvents();
  }
}

}  // namespace fathom::cli
