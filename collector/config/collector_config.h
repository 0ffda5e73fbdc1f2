// What can be set on the collector, and the checked form that the rest of it takes.
//
// CollectorConfig is filled by config/settings.h from defaults, file, environment and flags. Only
// Finalize() makes a FinalizedCollectorConfig, so whoever holds one holds a valid one.
// Thread-safety: plain values; the finalized one is immutable. Errors: InvalidArgument that names
// the setting and what would do.
#ifndef FATHOM_COLLECTOR_CONFIG_COLLECTOR_CONFIG_H_
#define FATHOM_COLLECTOR_CONFIG_COLLECTOR_CONFIG_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collector/config/cluster_settings.h"
#include "collector/evaluate/capture_settings.h"
#include "collector/evaluate/look_schedule.h"
#include "collector/evaluate/probe_settings.h"
#include "collector/http/login.h"
#include "collector/notify/delivery.h"
#include "collector/notify/routes.h"
#include "collector/ops/kept_jobs.h"
#include "collector/verdict/node_history.h"
#include "daemon/service/tls_files.h"
#include "diagnosis/model/config.h"
#include "diagnosis/model/topology.h"

namespace fathom::collector {

struct CollectorConfig {
  std::string grpc = "127.0.0.1:7071";  // "off": no port
  std::string agent_socket = "auto";    // "off": none; "auto": beside the port; or a path
  std::string http = "127.0.0.1:7070";
  std::string store;               // empty: the default place
  std::string journal;             // folder; empty: beside the store's file; "off": none
  std::int64_t journal_mib = 256;  // on the disk
  double journal_days = 7;
  std::string stream = "summaries";  // what agents send all the time: or "ops"
  std::string stream_jobs;           // names of jobs whose ops they send, with commas
  std::string ops_store;             // folder of the ops; empty: beside the store's file
  double ops_gib = 20;               // on the disk
  double ops_days = 7;
  std::string log_level = "info";
  std::string log_format = "text";
  bool insecure = false;
  bool reflection = false;
  std::string allowed_hosts;  // names, with commas
  std::int64_t max_jobs = 256;
  std::int64_t max_ranks = 200'000;
  std::int64_t max_agents = 20'000;
  std::int64_t max_agent_connections = 64;  // of one address, loopback aside
  std::int64_t max_agent_jobs = 64;         // begun by one agent, that run
  std::int64_t max_agent_ranks = 4096;      // of one agent, in jobs that run
  std::int64_t max_agent_messages = 2'000;  // a second, of one agent with few ranks
  std::string agent_users;       // of this machine, believed beside root and the collector's own
  bool agent_wildcards = false;  // certificates of *.DOMAIN speak for every node of it
  std::int64_t max_event_clients = 32;
  double job_timeout_s = 600;   // a job not heard of for so long has ended
  double budget_cpu = 0;        // per cent of a core that the collector may take; 0: no limit
  std::int64_t budget_mib = 0;  // of memory, likewise
  LookPace looks;
  CaptureSettings captures;
  ProbeSettings probes;
  std::string notify;             // who hears of verdicts: SHAPE=URL, with commas
  std::string notify_key_file;    // PagerDuty's routing key
  std::string topology;           // file of how nodes hang on switches; empty: it is guessed
  std::string notify_routes;      // file of rules: which receiver hears of what; empty: all of all
  std::string runbook_url;        // of causes; goes into notices
  std::string page_url;           // where people reach the page; goes into notices
  std::string cordon_http;        // of a fathom-cordon whose actions the page shows; empty: none
  std::string cordon_token_file;  // a viewer's, where it has a login
  std::string cordon_ca_file;     // authority of its certificate; empty: the system's
  bool cordon_changes = false;  // operators approve and undo through the page, each by their token
  LoginOptions login{.local_owner = true};
  service::TlsFiles tls;  // of both ports; who must show a certificate are agents only
  NodeHistorySettings node_history;
  ClusterConfig cluster;
  bool parent_death_signal = false;
  diagnosis::DiagnosisConfig diagnosis;
  std::vector<std::string> unread;  // settings of earlier versions that were given, and where
};

class FinalizedCollectorConfig {
 public:
  const CollectorConfig& operator*() const { return config_; }
  const CollectorConfig* operator->() const { return &config_; }
  const std::vector<std::string>& allowed_hosts() const { return allowed_hosts_; }
  const std::vector<Receiver>& receivers() const { return receivers_; }
  bool has_port() const { return config_.grpc != "off"; }
  // Whether agents find the unix socket by the port; else it is at agent_socket(), or, where that
  // is empty, there is none.
  bool socket_beside_port() const { return socket_beside_port_; }
  const std::string& agent_socket() const { return agent_socket_; }
  const Routes& routes() const { return routes_; }
  // By which the collector is told from others.
  const std::string& name() const { return name_; }
  const std::string& journal_folder() const { return journal_folder_; }  // empty: no journal
  // Null: none is told.
  const std::shared_ptr<const diagnosis::Topology>& topology() const { return topology_; }
  // Of which jobs every op is kept, and where.
  const KeptJobs& kept_jobs() const { return kept_jobs_; }
  const std::string& ops_folder() const { return ops_folder_; }

 private:
  friend absl::StatusOr<FinalizedCollectorConfig> Finalize(CollectorConfig config);
  FinalizedCollectorConfig() = default;

  CollectorConfig config_;
  std::vector<std::string> allowed_hosts_;
  std::vector<Receiver> receivers_;
  Routes routes_;
  std::string name_;
  std::string journal_folder_;
  std::string agent_socket_;
  bool socket_beside_port_ = false;
  std::shared_ptr<const diagnosis::Topology> topology_;
  KeptJobs kept_jobs_;
  std::string ops_folder_;
};

// Checks addresses, ranges, that tokens and the files of TLS can be read, and that nothing but
// loopback is bound without `insecure`; fills in the default place of the store.
absl::StatusOr<FinalizedCollectorConfig> Finalize(CollectorConfig config);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CONFIG_COLLECTOR_CONFIG_H_
