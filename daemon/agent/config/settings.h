// Everything a user may set of fathomd, as one validated value.
//
// Made once by settings_loader from flags, environment and file; handed to Agent.
//
// Thread-safety: plain values. Errors: Validate says which field and why.
#ifndef FATHOM_DAEMON_AGENT_CONFIG_SETTINGS_H_
#define FATHOM_DAEMON_AGENT_CONFIG_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/service/tls_files.h"

namespace fathom::agent {

struct Settings {
  std::string collector = "127.0.0.1:7071";  // or unix:/PATH
  std::string collector_ca;    // authority of the collector's certificate; empty = no TLS
  std::string collector_cert;  // the agent's own, where the collector asks for one
  std::string collector_key;
  std::string http = "127.0.0.1:7072";  // empty = off
  std::string http_cert;                // of http; turns TLS on
  std::string http_key;
  std::string http_client_ca;  // authority of whoever reads it; empty = anybody
  std::string shm_dir = "/dev/shm/fathom";
  std::string node;  // empty = the host's name
  std::string log_level = "info";
  std::string log_format = "text";
  std::string record;  // folder for a recording; empty = none
  std::uint32_t record_gib = 8;
  bool shared = false;    // make shm_dir for all users (01777)
  bool insecure = false;  // allow http on a non-loopback address without certificates
  bool parent_death_signal = false;
  double linger_s = 2;  // at SIGTERM: at most this long to send what is left
  std::uint32_t max_rings = 256;
  std::uint32_t log_rows = 65'536;  // op log of a rank: ops and
  double log_minutes = 10;          // minutes kept
  double poll_min_ms = 5;
  double poll_max_ms = 20;
  std::uint32_t buffer_mib = 16;  // what waits for the collector
  std::string spool;              // folder for what waits; empty = in memory alone
  std::uint32_t spool_mib = 1024;
  double spool_hours = 24;
  std::uint32_t nice = 5;
  double budget_cpu = 1;             // per cent of a core that the agent may take; 0 = no limit
  std::uint32_t budget_mib = 64;     // of memory; likewise
  std::uint32_t budget_kbit = 1000;  // a second to the collector; likewise
  bool hardware = true;              // sample GPUs, ports, disks, processors, memory
  std::string nvml_library = "libnvidia-ml.so.1";
  std::string stack_tool = "py-spy";                     // reads stacks of suspects; empty = never
  std::string probe_tool = "fathom-probe";               // measures the node; empty = never
  std::string probe_off_file = "/etc/fathom/probe.off";  // where it is, nothing is measured
  double probe_seconds = 900;                            // at most, of one order
  std::uint32_t probe_memory_mib = 0;                    // 0: what the program takes by itself
};

struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};

// "host:port", "[v6]:port". False if it is neither.
[[nodiscard]] bool ParseHostPort(const std::string& text, HostPort& out);

// The collectors that `collector` names, with commas; as it is where that is none.
std::vector<std::string> CollectorsOf(const std::string& collector);
// Ranges and addresses; the files of TLS are read.
absl::Status Validate(const Settings& settings);
// For the connection to the collector.
service::TlsFiles CollectorTls(const Settings& settings);
// For the agent's own HTTP, and what its settings are called.
service::TlsFiles HttpTls(const Settings& settings);
service::TlsNames HttpTlsNames();

// As it was given, else the name of this machine.
std::string NodeName(const Settings& settings);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_CONFIG_SETTINGS_H_
