#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "daemon/agent/agent.h"
#include "daemon/agent/config/settings_loader.h"
#include "daemon/agent/version.h"

namespace {

using fathom::agent::Agent;
using fathom::agent::Invocation;
using fathom::agent::Settings;

Agent* running_agent = nullptr;  // for the signal handler alone

void OnSignal(int) {
  if (running_agent != nullptr) running_agent->RequestStop();
}

std::optional<std::string> FromEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

void SetUpProcess(const Settings& settings) {
  // stdout is for the ready line alone.
  spdlog::set_default_logger(spdlog::stderr_color_mt("fathomd"));
  spdlog::set_level(spdlog::level::from_str(settings.log_level));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z fathomd %l %v");
  if (settings.parent_death_signal) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == 1) raise(SIGTERM);  // the parent was gone before we asked
  }
  setpriority(PRIO_PROCESS, 0, static_cast<int>(settings.nice));
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

int RunAgent(const Settings& settings) {
  Agent agent(settings, fathom::agent::AgentWorld::Real());
  running_agent = &agent;
  std::signal(SIGTERM, OnSignal);
  std::signal(SIGINT, OnSignal);
  SetUpProcess(settings);
  const absl::Status status = agent.Start();
  if (!status.ok()) {
    std::fprintf(stderr, "fathomd: %s\n", std::string(status.message()).c_str());
    return 1;
  }
  spdlog::info("fathomd {} reads {}, collector {}", fathom::agent::kVersion, settings.shm_dir,
               settings.collector);
  if (agent.http_port() != 0) {
    std::printf("fathomd ready http=127.0.0.1:%u\n", unsigned{agent.http_port()});
  } else {
    std::printf("fathomd ready\n");
  }
  std::fflush(stdout);
  agent.Run();
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);
  running_agent = nullptr;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto invocation =
      fathom::agent::LoadSettings(std::vector<std::string>(argv + 1, argv + argc), FromEnvironment);
  if (!invocation.ok()) {
    std::fprintf(stderr, "fathomd: %s\n", std::string(invocation.status().message()).c_str());
    return 1;
  }
  switch (invocation->what) {
    case Invocation::What::kHelp:
      std::fputs(invocation->text.c_str(), stdout);
      return 0;
    case Invocation::What::kVersion:
      std::printf("fathomd %s\n", fathom::agent::kVersion);
      return 0;
    case Invocation::What::kPrint:
      std::fputs(fathom::agent::PrintSettings(invocation->settings).c_str(), stdout);
      return 0;
    case Invocation::What::kCheck:
      std::puts("fathomd: the settings are good");
      return 0;
    case Invocation::What::kRun:
      return RunAgent(invocation->settings);
  }
  return 1;
}
