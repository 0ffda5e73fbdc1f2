#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "collector/api/cordon_address.h"
#include "collector/config/collector_config.h"
#include "collector/config/routes_file.h"
#include "collector/config/thresholds.h"
#include "collector/config/topology_file.h"
#include "collector/net/listen_probe.h"
#include "collector/net/local_agents.h"
#include "collector/process/clock.h"
#include "collector/store/database/database.h"
#include "daemon/service/log_lines.h"
#include "daemon/service/loopback.h"

namespace fathom::collector {
namespace {

absl::Status Bad(const std::string& text) { return absl::InvalidArgumentError(text); }

std::string DefaultStore() {
  if (geteuid() == 0) return "/var/lib/fathom/fathom.db";
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    return absl::StrCat(state, "/fathom/fathom.db");
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return ":memory:";
  return absl::StrCat(home, "/.local/state/fathom/fathom.db");
}

bool OfFile(const std::string& store) { return store != ":memory:" && !Database::IsShared(store); }

std::string JournalFolder(const CollectorConfig& config) {
  if (config.journal == "off" || config.cluster.on()) return "";  // the bus has it
  if (!config.journal.empty() || !OfFile(config.store)) return config.journal;
  return absl::StrCat(config.store, ".journal");
}

KeptJobs KeptJobsOf(const CollectorConfig& config) {
  if (config.stream == "ops") return KeptJobs({"*"});
  return KeptJobs(absl::StrSplit(config.stream_jobs, absl::ByAnyChar(", "), absl::SkipEmpty()));
}

std::string OpsFolder(const CollectorConfig& config) {
  if (!config.ops_store.empty() || !OfFile(config.store)) return config.ops_store;
  return absl::StrCat(config.store, ".ops");
}

absl::Status CheckStream(const CollectorConfig& config) {
  if (config.stream == "summaries" || config.stream == "ops") return absl::OkStatus();
  return Bad(absl::StrCat("stream: '", config.stream, "' is neither summaries nor ops"));
}

// People's tokens go to fathom-cordon then.
absl::Status CheckChanges(const CollectorConfig& c) {
  if (!c.cordon_changes) return absl::OkStatus();
  if (c.cordon_http.empty()) return Bad("cordon_changes: name the fathom-cordon with cordon_http");
  if (c.login.token_file.empty()) {
    return Bad(
        "cordon_changes: people sign in with tokens that fathom-cordon takes too; set tokens");
  }
  if (c.insecure || CordonIsPrivate(c.cordon_http)) return absl::OkStatus();
  return Bad(
      "cordon_changes: people's tokens would cross the network in clear; give cordon_http as "
      "https://HOST:PORT, or say --insecure");
}

absl::Status CheckProbes(const ProbeSettings& probes) {
  if (probes.mode == "asked" || probes.mode == "after_jobs") return absl::OkStatus();
  return Bad(absl::StrCat("probes: '", probes.mode, "' is neither asked nor after_jobs"));
}

absl::Status CheckCaptures(const CaptureSettings& captures) {
  if (captures.mode == "on" || captures.mode == "off") return absl::OkStatus();
  return Bad(absl::StrCat("captures: '", captures.mode, "' is neither on nor off"));
}

// Whether an agent that was told 127.0.0.1 and the port reaches it.
bool ServesLoopback(const std::string& address) {
  HostPort where;
  if (!ParseHostPort(address, where).ok()) return false;
  return service::IsLoopback(where.host) || where.host == "0.0.0.0" || where.host == "::";
}

absl::Status CheckAgentPort(const CollectorConfig& c) {
  const bool path = c.agent_socket.starts_with('/');
  if (!path && c.agent_socket != "auto" && c.agent_socket != "off") {
    return Bad(absl::StrCat("agent_socket: '", c.agent_socket, "' is no path, auto or off"));
  }
  if (c.grpc == "off" && path) return absl::OkStatus();
  if (c.grpc == "off") return Bad("grpc: off leaves agents no way in; set agent_socket to a path");
  return CheckAddress("grpc", c.grpc, c.insecure || (c.tls.on() && !c.tls.peer_ca_file.empty()),
                      "tls_cert, tls_key and tls_client_ca");
}

absl::Status Check(const CollectorConfig& c) {
  for (const absl::Status& status :
       {service::CheckTlsFiles(c.tls, service::TlsNames(), SystemClock().Wall()),
        CheckAgentPort(c),
        CheckAddress("http", c.http, c.insecure || (c.tls.on() && c.login.on()),
                     "tls_cert, tls_key and tokens"),
        service::CheckLog(c.log_level, c.log_format),
        CheckChanges(c),
        CheckRange("journal_mib", static_cast<double>(c.journal_mib), 16, 1 << 20),
        CheckRange("journal_days", c.journal_days, 0.01, 3650),
        CheckStream(c),
        CheckRange("ops_gib", c.ops_gib, 0.01, 1 << 20),
        CheckRange("ops_days", c.ops_days, 0.001, 3650),
        CheckRange("max_jobs", static_cast<double>(c.max_jobs), 1, 10'000),
        CheckRange("max_ranks", static_cast<double>(c.max_ranks), 1, 1'000'000),
        CheckRange("max_agents", static_cast<double>(c.max_agents), 1, 100'000),
        CheckRange("max_agent_connections", static_cast<double>(c.max_agent_connections), 1,
                   100'000),
        CheckRange("max_agent_jobs", static_cast<double>(c.max_agent_jobs), 1, 10'000),
        CheckRange("max_agent_ranks", static_cast<double>(c.max_agent_ranks), 1, 1'000'000),
        CheckRange("max_agent_messages", static_cast<double>(c.max_agent_messages), 10, 1'000'000),
        LocalAgents::Parse(c.agent_users).status(),
        CheckRange("max_event_clients", static_cast<double>(c.max_event_clients), 1, 1000),
        CheckRange("repeat_days", c.node_history.days, 0.01, 3650),
        CheckRange("repeat_jobs", static_cast<double>(c.node_history.repeat_jobs), 1, 1000),
        CheckRange("job_timeout_s", c.job_timeout_s, 1, 1e7),
        CheckCaptures(c.captures),
        CheckProbes(c.probes),
        CheckRange("captures_per_hour", static_cast<double>(c.captures.per_hour), 1, 1000),
        CheckRange("budget_cpu", c.budget_cpu, 0, 100 * 1024),
        CheckRange("budget_mib", static_cast<double>(c.budget_mib), 0, 1 << 24),
        CheckRange("look_share", c.looks.share, 0.01, 1),
        CheckRange("look_reserve_s", c.looks.reserve_s, 0, 60),
        CheckCluster(c.cluster, c.store, c.insecure),
        CheckThresholds(c)}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FinalizedCollectorConfig> Finalize(CollectorConfig config) {
  if (auto status = Check(config); !status.ok()) return status;
  if (config.store.empty()) config.store = DefaultStore();
  if (config.cluster.on() && config.cluster.name.empty()) config.cluster.name = MachineName();
  if (auto status = Login::Check(config.login); !status.ok()) return status;
  FinalizedCollectorConfig finalized;
  finalized.allowed_hosts_ =
      absl::StrSplit(config.allowed_hosts, absl::ByAnyChar(", "), absl::SkipEmpty());
  auto receivers = ReadReceivers(config.notify, config.notify_key_file);
  if (!receivers.ok()) return receivers.status();
  finalized.receivers_ = *std::move(receivers);
  auto routes = ReadRoutes(config.notify_routes, finalized.receivers_);
  if (!routes.ok()) return Bad("notify_routes: " + std::string(routes.status().message()));
  finalized.routes_ = Routes(*std::move(routes), config.runbook_url);
  finalized.name_ = config.cluster.on() ? config.cluster.name : MachineName();
  finalized.journal_folder_ = JournalFolder(config);
  // With certificates only who shows one, or was given the path, is an agent.
  finalized.socket_beside_port_ =
      config.agent_socket == "auto" && !config.tls.on() && ServesLoopback(config.grpc);
  if (config.agent_socket.starts_with('/')) finalized.agent_socket_ = config.agent_socket;
  auto topology = ReadTopology(config.topology);
  if (!topology.ok()) return topology.status();
  finalized.topology_ = *std::move(topology);
  finalized.kept_jobs_ = KeptJobsOf(config);
  finalized.ops_folder_ = OpsFolder(config);
  if (!finalized.kept_jobs_.names().empty() && finalized.ops_folder_.empty()) {
    return Bad("stream: ops have nowhere to go without a store; name a folder with ops_store");
  }
  finalized.config_ = std::move(config);
  return finalized;
}

}  // namespace fathom::collector
