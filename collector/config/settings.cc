#include "collector/config/settings.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <cstdlib>
#include <utility>

#include "collector/config/login_settings.h"
#include "collector/config/removed_settings.h"
#include "collector/net/masked_url.h"

namespace fathom::collector {
namespace {

using Config = CollectorConfig;
using diagnosis::DiagnosisConfig;

template <typename T>
Setting Of(std::string name, T Config::*field, std::string help) {
  return MakeSetting(std::move(name), field, std::move(help));
}

template <typename Part, typename T>
Setting Of(std::string name, Part Config::*part, T Part::*field, std::string help) {
  return MakeSetting(std::move(name), part, field, std::move(help));
}

template <typename T>
Setting Of(std::string name, T DiagnosisConfig::*field) {
  return Hidden(
      Of("diagnosis." + std::move(name), &Config::diagnosis, field, "see docs/rules/config.md"));
}

std::string Address(const std::string& url) { return WithoutUser(url); }

std::string HistoryPlace(const std::string& place) { return MaskedDatabase(place); }

// With commas.
std::string BusServers(const std::string& urls) {
  std::string shown;
  for (const auto& url : absl::StrSplit(urls, absl::ByAnyChar(", "), absl::SkipEmpty())) {
    absl::StrAppend(&shown, shown.empty() ? "" : ",", WithoutUser(std::string(url)));
  }
  return shown;
}

std::vector<Setting> ServerSettings() {
  return {
      Of("grpc", &Config::grpc, "HOST:PORT that agents connect to; port 0: any; off: none"),
      Of("agent_socket", &Config::agent_socket,
         "unix socket for agents of this machine; auto: beside grpc; off: none"),
      Of("http", &Config::http, "HOST:PORT of page, API and metrics; port 0: any"),
      Masked(Of("store", &Config::store,
                "file of the history, :memory:, or postgresql://USER@HOST/DATABASE"),
             &HistoryPlace),
      Of("journal", &Config::journal, "folder of what agents told, beside the store; off: none"),
      Of("journal_mib", &Config::journal_mib, "MiB of it on the disk, then the oldest goes"),
      Of("journal_days", &Config::journal_days, "and what is older"),
      Of("stream", &Config::stream, "what agents send all the time: summaries, or ops beside them"),
      Of("stream_jobs", &Config::stream_jobs,
         "of these jobs ops too, with commas; * stands for any ending"),
      Of("ops_store", &Config::ops_store, "folder of the ops, beside the store"),
      Of("ops_gib", &Config::ops_gib, "GiB of it on the disk, then the oldest goes"),
      Of("ops_days", &Config::ops_days, "and what is older"),
      Reloads(Of("log_level", &Config::log_level, "trace, debug, info, warning, error, off")),
      Reloads(Of("log_format", &Config::log_format, "text, logfmt or json")),
      Of("insecure", &Config::insecure, "allow more than loopback without TLS and login"),
      Of("reflection", &Config::reflection, "gRPC server reflection"),
      Of("allowed_hosts", &Config::allowed_hosts, "more names for the Host header, with commas"),
      Of("max_jobs", &Config::max_jobs, "jobs held at once"),
      Of("max_ranks", &Config::max_ranks, "ranks over all jobs, 4 KiB each"),
      Of("max_agents", &Config::max_agents, "agent streams at once"),
      Of("max_agent_connections", &Config::max_agent_connections,
         "connections of agents from one address, loopback aside"),
      Of("max_agent_jobs", &Config::max_agent_jobs, "running jobs that one agent may have begun"),
      Of("max_agent_ranks", &Config::max_agent_ranks, "ranks of one agent in running jobs"),
      Of("max_agent_messages", &Config::max_agent_messages,
         "messages a second of one agent; what it sends beyond waits at its own end"),
      Of("agent_users", &Config::agent_users,
         "users of this machine whose agents are believed too, with commas; * for all"),
      Of("agent_wildcards", &Config::agent_wildcards,
         "an agent's certificate of *.DOMAIN speaks for every node of it"),
      Of("max_event_clients", &Config::max_event_clients, "listeners of the event stream"),
      Of("topology", &Config::topology,
         "file of how nodes hang on switches: topology.conf of Slurm, or YAML"),
      Of("job_timeout_s", &Config::job_timeout_s, "a job unheard of for so long has ended"),
      Of("budget_cpu", &Config::budget_cpu,
         "per cent of a core that the collector may take; 0: no limit"),
      Of("budget_mib", &Config::budget_mib, "MiB of memory that it may take; 0: no limit"),
      Of("look_share", &Config::looks, &LookPace::share,
         "of a core, that looks at one job take in the long run"),
      Of("look_reserve_s", &Config::looks, &LookPace::reserve_s,
         "seconds of looking that a quiet job saves for when it is not"),
      Of("captures", &Config::captures, &CaptureSettings::mode,
         "on or off: stacks of slow ranks and their peers are captured by themselves"),
      Of("probes", &Config::probes, &ProbeSettings::mode,
         "asked, or after_jobs: nodes that verdicts convict are probed once the job ended"),
      Of("captures_per_hour", &Config::captures, &CaptureSettings::per_hour, "of one job, at most"),
      Masked(Reloads(Of("notify", &Config::notify,
                        "who hears of verdicts: alertmanager=URL,NAME:slack=URL,json=URL,…")),
             &MaskedReceivers),
      Reloads(Of("notify_key_file", &Config::notify_key_file, "file with PagerDuty's routing key")),
      Reloads(Of("notify_routes", &Config::notify_routes,
                 "file of rules: which receiver hears of which owner, cause and job, and when")),
      Reloads(Of("runbook_url", &Config::runbook_url,
                 "page of causes that notices link to; {cause} stands for the cause")),
      Reloads(Of("page_url", &Config::page_url, "where people reach the page; goes into notices")),
      Masked(Of("cordon_http", &Config::cordon_http, "fathom-cordon whose actions the page shows"),
             &Address),
      Of("cordon_token_file", &Config::cordon_token_file, "a viewer's token, if it has a login"),
      Of("cordon_ca_file", &Config::cordon_ca_file, "authority of its certificate"),
      Of("cordon_changes", &Config::cordon_changes,
         "operators approve and undo through the page, each by their own token"),
      Of("tls_cert", &Config::tls, &service::TlsFiles::cert_file,
         "certificate (PEM) of both ports; turns TLS on"),
      Of("tls_key", &Config::tls, &service::TlsFiles::key_file, "its key"),
      Of("tls_client_ca", &Config::tls, &service::TlsFiles::peer_ca_file,
         "authority of agents' certificates; then they must show one"),
  };
}

std::vector<Setting> ClusterSettings() {
  using C = ClusterConfig;
  return {
      Masked(Of("cluster_bus", &Config::cluster, &C::bus,
                "NATS servers that several collectors share: nats://HOST:PORT or tls://…, with "
                "commas; empty: one collector alone"),
             &BusServers),
      Of("cluster_name", &Config::cluster, &C::name,
         "of this collector, unlike all others'; empty: the machine's"),
      Of("cluster_lease_s", &Config::cluster, &C::lease_s,
         "a job's owner that is not heard of for so long is none"),
      Of("cluster_replicas", &Config::cluster, &C::replicas,
         "NATS servers that keep what agents told; taken when the stream is made"),
      Of("cluster_log_gib", &Config::cluster, &C::log_gib,
         "GiB of it on each of them, then the oldest goes; taken when the stream is made"),
      Of("cluster_credentials", &Config::cluster, &C::credentials, "credentials file of NATS"),
      Of("cluster_ca", &Config::cluster, &C::ca, "authority of its servers' certificates"),
  };
}

std::vector<Setting> HistorySettings() {
  return {
      Of("repeat_days", &Config::node_history, &NodeHistorySettings::days,
         "how far back jobs count against a node"),
      Of("repeat_jobs", &Config::node_history, &NodeHistorySettings::repeat_jobs,
         "so many make it a repeat offender"),
      Hidden(Of("parent_death_signal", &Config::parent_death_signal, "end with the parent")),
  };
}

// Every field of DiagnosisConfig; a new one is added here (a test counts them).
std::vector<Setting> DiagnosisSettings() {
  using D = DiagnosisConfig;
  return {
      Of("delta", &D::delta),
      Of("noise_factor", &D::noise_factor),
      Of("learning_noise", &D::learning_noise),
      Of("learning_iterations", &D::learning_iterations),
      Of("baseline_iterations", &D::baseline_iterations),
      Of("min_irregular", &D::min_irregular),
      Of("fluctuation_share", &D::fluctuation_share),
      Of("shift_delta", &D::shift_delta),
      Of("noisy_shift_delta", &D::noisy_shift_delta),
      Of("shift_sigmas", &D::shift_sigmas),
      Of("shift_goes_on", &D::shift_goes_on),
      Of("spike_sigmas", &D::spike_sigmas),
      Of("all_ranks_up_to", &D::all_ranks_up_to),
      Of("wait_floor_s", &D::wait_floor),
      Of("device_wait_floor_s", &D::device_wait_floor),
      Of("explains_share", &D::explains_share),
      Of("mostly_share", &D::mostly_share),
      Of("consistent_share", &D::consistent_share),
      Of("supported_odds", &D::supported_odds),
      Of("prior_rank", &D::prior_rank),
      Of("peer_contrast", &D::peer_contrast),
      Of("most_culprit_nodes", &D::most_culprit_nodes),
      Of("link_megabytes", &D::link_megabytes),
      Of("link_factor", &D::link_factor),
      Of("slow_worker_ratio", &D::slow_worker_ratio),
      Of("length_correlation", &D::length_correlation),
      Of("recorded_chance", &D::recorded_chance),
      Of("stall_factor", &D::stall_factor),
      Of("stall_floor_s", &D::stall_floor),
      Of("stall_history_factor", &D::stall_history_factor),
      Of("startup_floor_s", &D::startup_floor),
      Of("busy_ratio", &D::busy_ratio),
      Of("hang_supported_factor", &D::hang_supported_factor),
      Of("hang_established_factor", &D::hang_established_factor),
      Of("busy_patience", &D::busy_patience),
      Of("work_patience", &D::work_patience),
      Of("work_bytes", &D::work_bytes),
      Of("work_faults", &D::work_faults),
      Of("work_functions", &D::work_functions),
      Of("helper_ratio", &D::helper_ratio),
      Of("descendants_ratio", &D::descendants_ratio),
      Of("work_window_s", &D::work_window),
      Of("stuck_at_once", &D::stuck_at_once),
      Of("common_ops", &D::common_ops),
      Of("path_backoff", &D::path_backoff),
      Of("transfer_still_s", &D::transfer_still),
      Of("message_gap_s", &D::message_gap),
      Of("order_iterations", &D::order_iterations),
      Of("death_gap_s", &D::death_gap),
      Of("same_work_ops", &D::same_work_ops),
  };
}

}  // namespace

const std::vector<Setting>& Settings() {
  static const std::vector<Setting> all =
      JoinSettings<Config>({ServerSettings(), LoginSettings(&Config::login), ClusterSettings(),
                            HistorySettings(), DiagnosisSettings()});
  return all;
}

absl::Status Apply(const Texts& texts, const std::string& origin, CollectorConfig& config) {
  for (const auto& [name, text] : texts) {
    if (const auto instead = RemovedSetting(name)) {
      config.unread.push_back(absl::StrCat(origin, ": ", name, " (", *instead, ")"));
      continue;
    }
    auto status = ApplySetting(Settings(), origin, name, text, config);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

Texts LoadEnvironment() {
  Texts texts;
  for (const Setting& setting : Settings()) {
    const char* text = std::getenv(setting.variable("FATHOM_").c_str());
    if (text != nullptr) texts[setting.name] = text;
  }
  return texts;
}

std::string Print(const CollectorConfig& config) {
  std::string text;
  bool inside = false;
  for (const Setting& setting : Settings()) {
    const auto dot = setting.name.find('.');
    if (dot != std::string::npos && !std::exchange(inside, true)) {
      text += setting.name.substr(0, dot) + ":\n";
    }
    const std::string name = inside ? "  " + setting.name.substr(dot + 1) : setting.name;
    text += absl::StrCat(name, ": ", setting.Printed(config), "\n");
  }
  return text;
}

std::vector<std::string> NeedRestart(const CollectorConfig& held, const CollectorConfig& anew) {
  return ChangedForRestart(Settings(), held, anew);
}

}  // namespace fathom::collector
