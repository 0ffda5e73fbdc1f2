// What can be set on fathom-cordon, and how it is read.
//
// Used by main. Scalars are flags (--max-nodes), keys of the YAML file (max_nodes) and environment
// (FATHOM_CORDON_MAX_NODES); flag beats environment beats file beats default. Groups of nodes and
// the list of causes are for the file only. docs/operations/cordon.md lists them all.
// Thread-safety: plain values. Errors: InvalidArgument, one line that names the origin and, for an
// unknown key, the nearest known one.
#ifndef FATHOM_COLLECTOR_CORDON_CONFIG_CORDON_CONFIG_H_
#define FATHOM_COLLECTOR_CORDON_CONFIG_CORDON_CONFIG_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "collector/config/setting.h"
#include "collector/cordon/policy/limits.h"
#include "collector/http/login.h"
#include "collector/notify/delivery.h"
#include "daemon/service/tls_files.h"

namespace fathom::cordon {

struct CordonConfig {
  std::string collector = "http://127.0.0.1:7070";
  std::string collector_ca_file;     // authority of its certificate; empty: the system's
  std::string collector_token_file;  // a viewer's, where the collector has a login
  service::TlsFiles tls;             // of `http`
  std::string http = "127.0.0.1:7073";
  std::string audit = "/var/lib/fathom-cordon/audit.jsonl";
  collector::LoginOptions login{.open_reading = true};  // without tokens nobody changes anything
  std::string backend = "slurm";
  std::string notify;           // SHAPE=URL, with commas
  std::string notify_key_file;  // PagerDuty's routing key
  std::string log_level = "info";
  std::string log_format = "text";
  bool insecure = false;
  double poll_s = 1;
  std::string slurm_scontrol = "scontrol";
  std::string slurm_sinfo = "sinfo";
  std::string slurm_rack_feature = "rack";
  double slurm_timeout_s = 10;
  std::string kubernetes_server;  // empty: that of the pod
  std::string kubernetes_ca_file = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";
  std::string kubernetes_token_file = "/var/run/secrets/kubernetes.io/serviceaccount/token";
  std::string kubernetes_cert_file;  // instead of a token
  std::string kubernetes_key_file;
  std::string kubernetes_rack_label = "topology.kubernetes.io/rack";
  bool kubernetes_watch = false;  // ask for changes, do not list at each look
  std::string webhook_url;
  std::string webhook_token_file;
  Limits limits;
};

struct CordonCommandLine {
  enum class Ask { kRun, kCheckConfig, kPrintConfig, kVerifyAudit, kPrintText };
  Ask ask = Ask::kRun;
  std::string text;  // kPrintText: help or version
  CordonConfig config;
};

absl::StatusOr<CordonCommandLine> ParseCordonCommandLine(int argc, const char* const* argv);
// As YAML that --config takes, but for notify and webhook_url, which are shown as far as the host.
// Other secrets lie in files of their own.
std::string PrintCordonConfig(const CordonConfig& config);
// The settings that differ and that SIGHUP does not take: those of the process but for
// notify, notify_key_file, log_level and who may do what.
std::vector<std::string> NeedRestart(const CordonConfig& held, const CordonConfig& anew);
// Addresses, back-end, log level, receivers and limits together.
absl::Status ValidateCordonConfig(const CordonConfig& config);
// Who is told; reads the key file.
absl::StatusOr<std::vector<collector::Receiver>> CordonReceivers(const CordonConfig& config);

using CordonSetting = collector::SettingOf<CordonConfig>;
const std::vector<CordonSetting>& CordonSettings();
absl::Status LoadCordonFile(const std::string& file, CordonConfig& config);

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_CONFIG_CORDON_CONFIG_H_
