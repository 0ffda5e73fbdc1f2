#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "daemon/agent/agent.h"
#include "daemon/agent/config/settings_loader.h"
#include "daemon/agent/config/settings_table.h"
#include "daemon/agent/version.h"
#include "daemon/service/build_commit.h"
#include "daemon/service/log_lines.h"
#include "daemon/service/notify_socket.h"

namespace {

using fathom::agent::Agent;
using fathom::agent::Invocation;
using fathom::agent::Settings;
using fathom::service::LogLines;
using fathom::service::NotifySocket;
using ReadSettings = std::function<absl::StatusOr<Invocation>()>;

// For the signal handlers alone.
Agent* running_agent = nullptr;
std::atomic<std::int64_t> first_signal{0};
std::atomic<bool> reload_asked{false};
std::atomic<bool> insists{true};                     // a second signal ends the process at once
constexpr std::int64_t kSameSignal = 1'000'000'000;  // `timeout` sends one twice

std::int64_t MonotonicNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void OnSignal(int number) {
  const std::int64_t first = first_signal;
  if (first == 0) first_signal = MonotonicNow();
  if (running_agent != nullptr) running_agent->RequestStop();
  if (first != 0 && insists && MonotonicNow() - first > kSameSignal) _exit(128 + number);
}

void OnHangUp(int) { reload_asked = true; }

std::optional<std::string> FromEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

void SetUpProcess(const Settings& settings) {
  // stdout is for the ready line alone.
  LogLines::SetUp("fathomd", settings.log_format, settings.log_level);
  if (settings.parent_death_signal) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == 1) raise(SIGTERM);  // the parent was gone before we asked
  }
  // Who was started to stand further back stays there, also where root could come forward.
  const int wanted = static_cast<int>(settings.nice);
  if (getpriority(PRIO_PROCESS, 0) < wanted) setpriority(PRIO_PROCESS, 0, wanted);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

// SIGHUP: settings are read as at the start; log level and format are taken, the rest needs a
// restart, which costs the jobs nothing. An error leaves everything as it was.
void ReadAgain(const ReadSettings& read, const Settings& held, NotifySocket& manager) {
  if (!reload_asked.exchange(false)) return;
  manager.Reloading();
  const auto anew = read();
  manager.Ready();
  if (!anew.ok()) {
    spdlog::error("settings not read again, the old ones hold: {}",
                  std::string(anew.status().message()));
    return;
  }
  LogLines::Take("fathomd", anew->settings.log_format, anew->settings.log_level);
  spdlog::info("settings read again");
  for (const auto& entry : fathom::agent::SettingsTable()) {
    if (entry.reloads || entry.get(held) == entry.get(anew->settings)) continue;
    spdlog::warn("{} has changed and takes effect with a restart only", entry.name);
  }
}

int RunAgent(const ReadSettings& read, const Settings& settings) {
  NotifySocket manager(settings.parent_death_signal);
  Agent agent(settings, fathom::agent::AgentWorld::Real());
  running_agent = &agent;
  insists = !settings.parent_death_signal;  // else the parent has ways of its own
  std::signal(SIGTERM, OnSignal);
  std::signal(SIGINT, OnSignal);
  std::signal(SIGHUP, OnHangUp);
  SetUpProcess(settings);
  const absl::Status status = agent.Start();
  if (!status.ok()) {
    std::fprintf(stderr, "fathomd: %s\n", std::string(status.message()).c_str());
    running_agent = nullptr;
    return 1;
  }
  spdlog::info("fathomd {} ({}) reads {}, collector {}", fathom::agent::kVersion,
               fathom::service::kBuildCommit, settings.shm_dir, settings.collector);
  if (agent.http_port() != 0) {
    std::printf("fathomd ready http=127.0.0.1:%u\n", unsigned{agent.http_port()});
  } else {
    std::printf("fathomd ready\n");
  }
  std::fflush(stdout);
  manager.Ready();
  agent.Run(
      [&] {
        ReadAgain(read, settings, manager);
        manager.Alive();
      },
      [&] { manager.Stopping(); });
  running_agent = nullptr;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const ReadSettings read = [argc, argv] {
    return fathom::agent::LoadSettings(std::vector<std::string>(argv + 1, argv + argc),
                                       FromEnvironment);
  };
  const auto invocation = read();
  if (!invocation.ok()) {
    std::fprintf(stderr, "fathomd: %s\n", std::string(invocation.status().message()).c_str());
    return 1;
  }
  switch (invocation->what) {
    case Invocation::What::kHelp:
      std::fputs(invocation->text.c_str(), stdout);
      return 0;
    case Invocation::What::kVersion:
      std::printf("fathomd %s (%s)\n", fathom::agent::kVersion, fathom::service::kBuildCommit);
      return 0;
    case Invocation::What::kPrint:
      std::fputs(fathom::agent::PrintSettings(invocation->settings).c_str(), stdout);
      return 0;
    case Invocation::What::kCheck:
      std::puts("fathomd: the settings are good");
      return 0;
    case Invocation::What::kRun:
      return RunAgent(read, invocation->settings);
  }
  return 1;
}
