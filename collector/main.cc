#include <signal.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>

#include <cstdio>
#include <iostream>

#include "collector/collector.h"
#include "collector/config/command_line.h"
#include "collector/config/settings.h"
#include "collector/net/listen_probe.h"
#include "diagnosis/engine/diagnose.h"
#include "diagnosis/engine/watch.h"

namespace {

using namespace fathom::collector;  // NOLINT(google-build-using-namespace)

int Fail(const absl::Status& status) {
  std::cerr << "fathom-collector: " << status.message() << "\n";
  return 1;
}

void SetUpLogging(const std::string& level) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("collector"));
  spdlog::set_level(spdlog::level::from_str(level));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v");
}

// Before any thread is made, so that only main's wait sees the signals.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

void PrintReady(const FinalizedCollectorConfig& config, const Collector& collector) {
  HostPort grpc, http;
  ParseHostPort(config->grpc, grpc).IgnoreError();
  ParseHostPort(config->http, http).IgnoreError();
  std::printf("fathom-collector ready grpc=%s:%d http=%s:%d\n", grpc.host.c_str(),
              collector.grpc_port(), http.host.c_str(), collector.http_port());
  std::fflush(stdout);
}

int Run(const FinalizedCollectorConfig& config) {
  const sigset_t signals = BlockSignals();
  if (config->parent_death_signal) prctl(PR_SET_PDEATHSIG, SIGTERM);
  SetUpLogging(config->log_level);
  const SystemClock clock;
  auto collector =
      Collector::Start(config, {&fathom::diagnosis::Watch, &fathom::diagnosis::Diagnose}, clock);
  if (!collector.ok()) return Fail(collector.status());
  if (const auto why = (*collector)->degraded(); !why.empty()) spdlog::error("{}", why);
  spdlog::info("settings:\n{}", Print(*config));
  PrintReady(config, **collector);
  int signal = 0;
  sigwait(&signals, &signal);
  spdlog::info("signal {}: stopping", signal);
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
  return line->ask == CommandLine::Ask::kRun ? Run(*config) : 0;
}
