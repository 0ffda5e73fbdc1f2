// The table of scalar settings, validation and printing.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <utility>

#include "collector/config/login_settings.h"
#include "collector/cordon/config/cordon_config.h"
#include "collector/net/listen_probe.h"
#include "collector/net/masked_url.h"
#include "collector/process/clock.h"
#include "daemon/service/log_lines.h"

namespace fathom::cordon {
namespace {

using C = CordonConfig;

template <typename T>
CordonSetting Of(std::string name, T C::*field, std::string help) {
  return collector::MakeSetting(std::move(name), field, std::move(help));
}

template <typename Part, typename T>
CordonSetting Of(std::string name, Part C::*part, T Part::*field, std::string help) {
  return collector::MakeSetting(std::move(name), part, field, std::move(help));
}

template <typename T>
CordonSetting Of(std::string name, T Limits::*field, std::string help) {
  return Reloads(Of(std::move(name), &C::limits, field, std::move(help)));
}

// As far as the host.
std::string MaskedBase(const std::string& url) { return collector::MaskedUrl(url); }
std::string Address(const std::string& url) { return collector::WithoutUser(url); }

std::vector<CordonSetting> ProcessSettings() {
  return {
      Masked(Of("collector", &C::collector, "URL of the collector whose verdicts are read"),
             &Address),
      Of("collector_ca_file", &C::collector_ca_file, "authority of its certificate"),
      Of("collector_token_file", &C::collector_token_file, "a viewer's token, if it has a login"),
      Of("http", &C::http, "HOST:PORT of API and metrics; port 0: any"),
      Of("audit", &C::audit, "file of the audit log, which is also the memory"),
      Of("tls_cert", &C::tls, &service::TlsFiles::cert_file,
         "certificate (PEM) of `http`; turns TLS on"),
      Of("tls_key", &C::tls, &service::TlsFiles::key_file, "its key"),
  };
}

std::vector<CordonSetting> BackendSettings() {
  return {
      Of("backend", &C::backend, "slurm, kubernetes or webhook"),
      Masked(Reloads(Of("notify", &C::notify,
                        "who is told: alertmanager=URL,pagerduty=URL,slack=URL,json=URL")),
             &collector::MaskedReceivers),
      Reloads(Of("notify_key_file", &C::notify_key_file, "file with PagerDuty's routing key")),
      Reloads(Of("log_level", &C::log_level, "trace, debug, info, warning, error, off")),
      Reloads(Of("log_format", &C::log_format, "text, logfmt or json")),
      Of("insecure", &C::insecure, "allow more than loopback without TLS and login"),
      Of("poll_s", &C::poll_s, "seconds between two looks"),
      Of("slurm_scontrol", &C::slurm_scontrol, "scontrol, or a wrapper with its rights"),
      Of("slurm_sinfo", &C::slurm_sinfo, "sinfo"),
      Of("slurm_rack_feature", &C::slurm_rack_feature, "node features that begin so name a rack"),
      Of("slurm_timeout_s", &C::slurm_timeout_s, "limit of one command"),
      Masked(Of("kubernetes_server", &C::kubernetes_server,
                "https://HOST:PORT; default: the pod's own"),
             &Address),
      Of("kubernetes_ca_file", &C::kubernetes_ca_file, "authority of its certificate"),
      Of("kubernetes_token_file", &C::kubernetes_token_file, "bearer token, read at each look"),
      Of("kubernetes_cert_file", &C::kubernetes_cert_file, "client certificate, not a token"),
      Of("kubernetes_key_file", &C::kubernetes_key_file, "its key"),
      Of("kubernetes_rack_label", &C::kubernetes_rack_label, "the node label that names its rack"),
      Of("kubernetes_watch", &C::kubernetes_watch, "ask for changes only; a look takes a second"),
      Masked(Of("webhook_url", &C::webhook_url, "base URL of the webhook back-end"), &MaskedBase),
      Of("webhook_token_file", &C::webhook_token_file, "its bearer token"),
  };
}

std::vector<CordonSetting> LimitSettings() {
  using L = Limits;
  return {
      Of("min_age_s", &L::min_age_s, "seen established without a gap for so long"),
      Of("second_look_s", &L::second_look_s, "from the first look to the last, at least"),
      Of("sight_gap_s", &L::sight_gap_s, "not seen for so long: seen anew"),
      Of("fresh_s", &L::fresh_s, "a verdict that no diagnosis saw for so long leads to nothing"),
      Of("max_nodes", &L::max_nodes, "nodes held by fathom at once"),
      Of("max_ratio", &L::max_ratio, "of all nodes, rounded down"),
      Of("max_per_window", &L::max_per_window, "actions begun within window_s"),
      Of("window_s", &L::window_s, "see max_per_window"),
      Of("min_spacing_s", &L::min_spacing_s, "between two actions"),
      Of("min_available_per_partition", &L::min_available_per_partition, "share that must stay"),
      Of("min_available_per_job", &L::min_available_per_job, "share of a job's nodes that stays"),
      Of("max_per_rack", &L::max_per_rack, "suspect or held nodes behind one rack or switch"),
      Of("approval_ttl_s", &L::approval_ttl_s, "an unused approval is void after so long"),
      Of("override_cooloff_s", &L::override_cooloff_s, "a node that a person took over is left"),
      Of("doubt_s", &L::doubt_s, "how long a change of unclear outcome may still arrive"),
      Of("breaker_suspects", &L::breaker_suspects, "suspect nodes at once that stop everything"),
      Of("breaker_failures", &L::breaker_failures, "failures in a row that stop everything"),
      Of("clock_jump_s", &L::clock_jump_s, "jump of the wall clock that stops everything"),
      Of("require_probe", &L::require_probe,
         "mode auto waits for a probe that confirms the verdict"),
      Of("auto_undo", &L::auto_undo, "undo when fathom itself took the verdict back"),
      Of("undo_delay_s", &L::undo_delay_s, "how long it must have been taken back"),
  };
}

// Within a list or map of one line, in which more characters mean something than in a line.
std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "''"}}), "'");
}

absl::Status CheckHttp(const CordonConfig& config) {
  const bool closed = config.tls.on() && config.login.on() && !config.login.open_reading;
  return collector::CheckAddress("http", config.http, closed || config.insecure,
                                 "tls_cert, tls_key, tokens and open_reading: false");
}

}  // namespace

const std::vector<CordonSetting>& CordonSettings() {
  static const std::vector<CordonSetting> all = collector::JoinSettings<C>(
      {ProcessSettings(), collector::LoginSettings(&C::login), BackendSettings(), LimitSettings()});
  return all;
}

absl::Status ValidateCordonConfig(const CordonConfig& config) {
  const bool known =
      config.backend == "slurm" || config.backend == "kubernetes" || config.backend == "webhook";
  if (!known) {
    return absl::InvalidArgumentError("backend: '" + config.backend +
                                      "' is none of slurm, kubernetes, webhook");
  }
  // Of no number both comparisons are false.
  if (!(config.poll_s >= 0.05 && config.poll_s <= 60)) {
    return absl::InvalidArgumentError("poll_s: not between 0.05 and 60");
  }
  if (!(config.slurm_timeout_s >= 0.1 && config.slurm_timeout_s <= 3600)) {
    return absl::InvalidArgumentError("slurm_timeout_s: not between 0.1 and 3600");
  }
  if (config.limits.sight_gap_s < 3 * config.poll_s) {
    return absl::InvalidArgumentError("sight_gap_s: must be three times poll_s or more");
  }
  if (config.backend == "webhook" && config.webhook_url.empty()) {
    return absl::InvalidArgumentError("webhook_url: the webhook back-end needs it");
  }
  const WallNs now = collector::SystemClock().Wall();
  if (auto s = service::CheckTlsFiles(config.tls, service::TlsNames(), now); !s.ok()) return s;
  if (auto status = collector::Login::Check(config.login); !status.ok()) return status;
  if (auto s = service::CheckLog(config.log_level, config.log_format); !s.ok()) return s;
  if (const auto receivers = CordonReceivers(config); !receivers.ok()) return receivers.status();
  if (auto status = CheckHttp(config); !status.ok()) return status;
  return Validate(config.limits);
}

absl::StatusOr<std::vector<collector::Receiver>> CordonReceivers(const CordonConfig& config) {
  return collector::ReadReceivers(config.notify, config.notify_key_file);
}

std::vector<std::string> NeedRestart(const CordonConfig& held, const CordonConfig& anew) {
  return collector::ChangedForRestart(CordonSettings(), held, anew);
}

std::string PrintCordonConfig(const CordonConfig& config) {
  std::string text;
  for (const CordonSetting& setting : CordonSettings()) {
    text += absl::StrCat(setting.name, ": ", setting.Printed(config), "\n");
  }
  text += "causes: [";
  for (const std::string& cause : config.limits.causes) {
    text += absl::StrCat(text.back() == '[' ? "" : ", ", cause);
  }
  text += "]\ngroups:\n";
  for (const NodeGroup& group : config.limits.groups) {
    text += absl::StrCat("  - {name: ", Quoted(group.name),
                         ", mode: ", std::string(ToString(group.mode)), ", nodes: [");
    for (const std::string& pattern : group.patterns) {
      text += absl::StrCat(text.back() == '[' ? "" : ", ", Quoted(pattern));
    }
    text += "]}\n";
  }
  return text;
}

}  // namespace fathom::cordon
