// What can be set on a collector that is one of several, and whether it is sound.
//
// A part of CollectorConfig. Thread-safety: plain values; pure function. Errors: InvalidArgument
// that names the setting and what would do.
#ifndef FATHOM_COLLECTOR_CONFIG_CLUSTER_SETTINGS_H_
#define FATHOM_COLLECTOR_CONFIG_CLUSTER_SETTINGS_H_

#include <absl/status/status.h>

#include <cstdint>
#include <string>

namespace fathom::collector {

struct ClusterConfig {
  std::string bus;   // "nats://HOST:PORT", with commas; empty: this collector is alone
  std::string name;  // of this collector; empty: the machine's
  double lease_s = 4;
  std::int64_t replicas = 1;  // servers of NATS that keep a record
  double log_gib = 8;         // of all jobs, on each of them
  std::string credentials;    // file of NATS
  std::string ca;             // authority of tls:// servers
  bool on() const { return !bus.empty(); }
};

// `store`: of the same collector; `insecure`: clear text beyond this machine is allowed.
absl::Status CheckCluster(const ClusterConfig& cluster, const std::string& store, bool insecure);

// The name that a collector has where none is set.
std::string MachineName();

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CONFIG_CLUSTER_SETTINGS_H_
