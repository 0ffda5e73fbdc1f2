#include <absl/strings/str_cat.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstdio>
#include <functional>
#include <iostream>

#include "collector/config/command_line.h"
#include "collector/config/settings.h"
#include "collector/config/thresholds.h"
#include "collector/net/listen_probe.h"
#include "collector/net/secret_file.h"
#include "collector/process/stop_signals.h"
#include "collector/process/version.h"
#include "collector/serve/collector.h"
#include "daemon/service/build_commit.h"
#include "daemon/service/log_lines.h"
#include "daemon/service/notify_socket.h"
#include "diagnosis/engine/diagnose.h"
#include "diagnosis/watch/watch.h"

namespace {

using namespace fathom::collector;  // NOLINT(google-build-using-namespace)

using fathom::service::LogLines;
using fathom::service::NotifySocket;
using ReadSettings = std::function<absl::StatusOr<FinalizedCollectorConfig>()>;

int Fail(const absl::Status& status) {
  std::cerr << "fathom-collector: " << status.message() << "\n";
  return 1;
}

void PrintReady(const FinalizedCollectorConfig& config, const Collector& collector) {
  HostPort grpc, http;
  ParseHostPort(config->http, http).IgnoreError();
  std::string line = "fathom-collector ready";
  if (ParseHostPort(config->grpc, grpc).ok()) {
    absl::StrAppend(&line, " grpc=", grpc.host, ":", collector.grpc_port());
  }
  absl::StrAppend(&line, " http=", http.host, ":", collector.http_port());
  if (const std::string socket = collector.agent_socket(); !socket.empty()) {
    absl::StrAppend(&line, " socket=", socket);
  }
  std::puts(line.c_str());
  std::fflush(stdout);
}

// SIGHUP: settings are read as at the start. An error leaves everything as it was.
void Reload(const ReadSettings& read, const FinalizedCollectorConfig& held, Collector& collector) {
  const auto anew = read();
  const absl::Status taken = anew.ok() ? collector.Reload(*anew) : anew.status();
  if (!taken.ok()) {
    spdlog::error("settings not read again, the old ones hold: {}", std::string(taken.message()));
    return;
  }
  LogLines::Take("collector", (*anew)->log_format, (*anew)->log_level);
  spdlog::info("settings read again");
  for (const std::string& name : NeedRestart(*held, **anew)) {
    spdlog::warn("{} has changed and takes effect with a restart only", name);
  }
}

// An agent is a descriptor, and gRPC of this age never accepts again once it ran out of them.
void RaiseDescriptors() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

void WarnOfOpenSecrets(const CollectorConfig& config) {
  for (const std::string& file : {config.tls.key_file, config.cordon_token_file}) {
    const absl::Status status = CheckSecretFile(file);
    if (!status.ok()) spdlog::warn("{}", std::string(status.message()));
  }
}

int Run(const ReadSettings& read, const FinalizedCollectorConfig& config) {
  const StopSignals signals;
  NotifySocket manager(config->parent_death_signal);
  if (config->parent_death_signal) prctl(PR_SET_PDEATHSIG, SIGTERM);
  LogLines::SetUp("collector", config->log_format, config->log_level);
  RaiseDescriptors();
  for (const std::string& setting : config->unread) {
    spdlog::warn("{}", UnreadInWords(setting));
  }
  const SystemClock clock;
  const auto diagnose = [topology = config.topology()](const auto& view, const auto& suspicion,
                                                       const auto& thresholds) {
    return fathom::diagnosis::DiagnoseWired(view, suspicion, thresholds, topology.get());
  };
  auto collector = Collector::Start(config, {&fathom::diagnosis::Watch, diagnose}, clock);
  if (!collector.ok()) return Fail(collector.status());
  if (const auto why = (*collector)->degraded(); !why.empty()) spdlog::error("{}", why);
  spdlog::info("fathom-collector {} ({})", kVersion, fathom::service::kBuildCommit);
  spdlog::info("settings:\n{}", Print(*config));
  WarnOfOpenSecrets(*config);
  PrintReady(config, **collector);
  manager.Ready();
  for (auto came = StopSignals::Came::kNothing; came != StopSignals::Came::kStop;) {
    const fathom::Nanos patience = manager.patience();
    came = patience.count > 0 ? signals.Wait(patience) : signals.Wait();
    if (came == StopSignals::Came::kReload) {
      manager.Reloading();
      Reload(read, config, **collector);
      manager.Ready();
    }
    if ((*collector)->Turned()) manager.Alive();
  }
  manager.Stopping();
  spdlog::info("stopping");
  if (!config->parent_death_signal) signals.Insist();  // else the parent has ways of its own
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  auto line = ParseCommandLine(argc, argv);
  if (!line.ok()) return Fail(line.status());
  if (line->ask == CommandLine::Ask::kPrintText) {
    std::cout << line->text;
    return 0;
  }
  const auto config = Finalize(line->config);
  if (!config.ok()) return Fail(config.status());
  if (line->ask == CommandLine::Ask::kPrintConfig) std::cout << Print(**config);
  if (line->ask == CommandLine::Ask::kCheckConfig) std::cout << "settings are sound\n";
  if (line->ask != CommandLine::Ask::kRun) return 0;
  const auto read = [&]() -> absl::StatusOr<FinalizedCollectorConfig> {
    const auto again = ParseCommandLine(argc, argv);
    return again.ok() ? Finalize(again->config) : again.status();
  };
  return Run(read, *config);
}
