#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

#include "collector/cordon/actuator.h"
#include "collector/cordon/advice/advice_source.h"
#include "collector/cordon/audit/audit_log.h"
#include "collector/cordon/backend/kubernetes.h"
#include "collector/cordon/backend/slurm.h"
#include "collector/cordon/backend/webhook.h"
#include "collector/cordon/config/cordon_config.h"
#include "collector/cordon/serve/cordon_server.h"
#include "collector/net/curl_transport.h"
#include "collector/net/listen_probe.h"
#include "collector/net/secret_file.h"
#include "collector/notify/delivery.h"
#include "collector/process/command.h"
#include "collector/process/stop_signals.h"
#include "daemon/service/build_commit.h"
#include "daemon/service/log_lines.h"
#include "daemon/service/notify_socket.h"

namespace {

using namespace fathom::cordon;  // NOLINT(google-build-using-namespace)
using fathom::collector::CurlTransport;
using fathom::collector::Login;
using fathom::collector::Notice;
using fathom::collector::Receiver;
using fathom::collector::StopSignals;
using fathom::collector::SystemClock;
using fathom::service::LogLines;
using fathom::service::NotifySocket;
using ReadLine = std::function<absl::StatusOr<CordonCommandLine>()>;

int Fail(const absl::Status& status) {
  std::cerr << "fathom-cordon: " << status.message() << "\n";
  return 1;
}

std::string KubernetesServer(const CordonConfig& config) {
  if (!config.kubernetes_server.empty()) return config.kubernetes_server;
  const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
  return std::string("https://") + (host ? host : "kubernetes.default") + ":" +
         (port ? port : "443");
}

// Everything that lives as long as the process, in order of construction.
class Process {
 public:
  Process(const ReadLine& read, const CordonConfig& config, std::vector<Receiver> receivers,
          std::unique_ptr<Login> login)
      : read_(read),
        config_(config),
        receivers_(std::move(receivers)),
        cluster_({config.backend == "kubernetes" ? config.kubernetes_ca_file : "",
                  config.kubernetes_cert_file, config.kubernetes_key_file}),
        collector_({config.collector_ca_file, "", ""}),
        advice_(config.collector, config.collector_token_file, collector_),
        backend_(MakeBackend()),
        login_(std::move(login)),
        api_(config.backend, *login_) {}

  int Run(const StopSignals& signals) {
    auto server = CordonServer::Start(config_.http, config_.tls, api_, *login_);
    if (!server.ok()) return Fail(server.status());
    fathom::collector::HostPort where;
    fathom::collector::ParseHostPort(config_.http, where).IgnoreError();
    std::printf("fathom-cordon ready http=%s:%d\n", where.host.c_str(), (*server)->port());
    std::fflush(stdout);
    manager_.Ready();  // also a standby is
    Ledger ledger;
    if (const absl::Status opened = OpenLog(signals, ledger); !opened.ok()) return Fail(opened);
    if (log_ == nullptr) return 0;  // stopped while standing by; no look was made
    Actuator actuator(config_.limits, std::move(ledger),
                      {[this](View& view) { return advice_.Read(view); }, *backend_,
                       [this](const Record& record) { return Append(record); },
                       [this](const Notice& notice) { return Tell(notice); }, clock_});
    api_.Activate(actuator);
    do {
      actuator.Look();
      LogNews(actuator.Problems());
    } while (!Stopped(signals, [&] { actuator.Use(config_.limits); }));
    manager_.Stopping();
    signals.Insist();
    server->reset();  // no command may reach an actuator that is going
    return 0;
  }

 private:
  std::unique_ptr<Backend> MakeBackend() {
    if (config_.backend == "kubernetes") {
      const std::string token =
          config_.kubernetes_cert_file.empty() ? config_.kubernetes_token_file : "";
      return std::make_unique<KubernetesBackend>(
          KubernetesOptions{KubernetesServer(config_), token, config_.kubernetes_rack_label,
                            config_.kubernetes_watch},
          cluster_, clock_);
    }
    if (config_.backend == "webhook") {
      return std::make_unique<WebhookBackend>(config_.webhook_url, config_.webhook_token_file,
                                              cluster_);
    }
    return std::make_unique<SlurmBackend>(
        SlurmOptions{config_.slurm_scontrol, config_.slurm_sinfo, config_.slurm_rack_feature,
                     config_.slurm_timeout_s},
        &fathom::collector::RunCommand);
  }

  // Waits for the next look. True: the process is to stop.
  bool Stopped(const StopSignals& signals, const std::function<void()>& changed) {
    manager_.Alive();
    const auto came = signals.Wait(fathom::Nanos::FromSeconds(config_.poll_s));
    if (came == StopSignals::Came::kReload) {
      manager_.Reloading();
      if (const auto taken = Reload(); taken.ok()) {
        changed();
      } else {
        spdlog::error("settings not read again, the old ones hold: {}",
                      std::string(taken.message()));
      }
      manager_.Ready();
    }
    return came == StopSignals::Came::kStop;
  }

  // SIGHUP: limits, groups and modes, receivers, who may do what and the log level are taken. An
  // error leaves everything as it was.
  absl::Status Reload() {
    const auto anew = read_();
    auto receivers = anew.ok() ? CordonReceivers(anew->config) : anew.status();
    if (!receivers.ok()) return receivers.status();
    for (const std::string& name : NeedRestart(config_, anew->config)) {
      spdlog::warn("{} has changed and takes effect with a restart only", name);
    }
    if (auto status = login_->Use(anew->config.login); !status.ok()) return status;
    receivers_ = *std::move(receivers);
    config_.limits = anew->config.limits;
    LogLines::Take("cordon", anew->config.log_format, anew->config.log_level);
    spdlog::info("settings read again:\n{}", PrintCordonConfig(anew->config));
    return absl::OkStatus();
  }

  // Stands by while another fathom-cordon holds the log.
  absl::Status OpenLog(const StopSignals& signals, Ledger& ledger) {
    for (bool said = false;; said = true) {
      auto log = AuditLog::Open(config_.audit, [&](const Record& record) { ledger.Fold(record); });
      if (log.ok()) {
        log_ = *std::move(log);
        if (log_->cut_off() > 0) spdlog::warn("audit log: {} bytes cut off", log_->cut_off());
        return absl::OkStatus();
      }
      if (!absl::IsUnavailable(log.status())) return log.status();
      if (!said) spdlog::info("standing by: {}", std::string(log.status().message()));
      if (Stopped(signals, [] {})) return absl::OkStatus();
    }
  }

  // What the look before this one had as well was said.
  void LogNews(std::vector<std::string> problems) {
    for (const std::string& problem : problems) {
      const bool said = std::find(said_.begin(), said_.end(), problem) != said_.end();
      if (!said) spdlog::warn("{}", problem);
    }
    said_ = std::move(problems);
  }

  absl::Status Append(const Record& record) {
    if (auto status = log_->Append(record); !status.ok()) return status;
    spdlog::info("{} {} {} {} by {}: {}", std::string(ToString(record.kind)), record.action,
                 record.node, record.cause, record.actor, record.text);
    return absl::OkStatus();
  }

  absl::Status Tell(const Notice& notice) {
    for (const Receiver& receiver : receivers_) {
      auto status = fathom::collector::Deliver(receiver, notice, clock_.Wall(), outside_);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  const ReadLine read_;
  NotifySocket manager_;
  CordonConfig config_;
  std::vector<Receiver> receivers_;
  const SystemClock clock_;
  CurlTransport outside_;
  CurlTransport cluster_;
  CurlTransport collector_;
  AdviceSource advice_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<AuditLog> log_;
  std::vector<std::string> said_;  // problems of the newest look
  std::unique_ptr<Login> login_;
  CordonApi api_;
};

int VerifyLog(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return Fail(absl::NotFoundError(file + ": cannot be read"));
  std::size_t records = 0;
  const auto status = VerifyAudit(text.str(), [&](const Record&) { ++records; });
  if (!status.ok()) return Fail(status);
  std::cout << records << " records, the chain is whole\n";
  return 0;
}

void WarnOfOpenSecrets(const CordonConfig& config) {
  for (const std::string& file : {config.tls.key_file, config.collector_token_file,
                                  config.kubernetes_key_file, config.webhook_token_file}) {
    const absl::Status status = fathom::collector::CheckSecretFile(file);
    if (!status.ok()) spdlog::warn("{}", std::string(status.message()));
  }
}

int Run(const ReadLine& read, const CordonConfig& config) {
  const StopSignals signals;
  LogLines::SetUp("cordon", config.log_format, config.log_level);
  auto receivers = CordonReceivers(config);
  if (!receivers.ok()) return Fail(receivers.status());
  static const SystemClock clock;
  auto login = Login::Make(config.login, clock);
  if (!login.ok()) return Fail(login.status());
  spdlog::info("fathom-cordon " FATHOM_VERSION " ({})", fathom::service::kBuildCommit);
  spdlog::info("settings:\n{}", PrintCordonConfig(config));
  WarnOfOpenSecrets(config);
  return Process(read, config, *std::move(receivers), *std::move(login)).Run(signals);
}

}  // namespace

int main(int argc, char** argv) {
  using Ask = CordonCommandLine::Ask;
  const ReadLine read = [argc, argv] { return ParseCordonCommandLine(argc, argv); };
  const auto line = read();
  if (!line.ok()) return Fail(line.status());
  switch (line->ask) {
    case Ask::kPrintText:
      std::cout << line->text;
      return 0;
    case Ask::kPrintConfig:
      std::cout << PrintCordonConfig(line->config);
      return 0;
    case Ask::kCheckConfig:
      std::cout << "settings are sound\n";
      return 0;
    case Ask::kVerifyAudit:
      return VerifyLog(line->config.audit);
    case Ask::kRun:
      break;
  }
  return Run(read, line->config);
}
