#include "daemon/agent/config/settings_table.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace fathom::agent {
namespace {

absl::Status NotA(const std::string& name, const std::string& text, const char* what) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": '", text, "' is not ", what));
}

SettingEntry Text(std::string name, std::string meaning, std::string Settings::*field) {
  return {.name = name,
          .meaning = std::move(meaning),
          .set =
              [field](Settings& s, const std::string& text) {
                s.*field = text;
                return absl::OkStatus();
              },
          .get = [field](const Settings& s) { return s.*field; }};
}

SettingEntry Switch(std::string name, std::string meaning, bool Settings::*field,
                    bool hidden = false) {
  return {.name = name,
          .meaning = std::move(meaning),
          .is_switch = true,
          .hidden = hidden,
          .set =
              [field, name](Settings& s, const std::string& text) {
                return absl::SimpleAtob(text, &(s.*field)) ? absl::OkStatus()
                                                           : NotA(name, text, "true or false");
              },
          .get = [field](const Settings& s) { return std::string(s.*field ? "true" : "false"); }};
}

SettingEntry Whole(std::string name, std::string meaning, std::uint32_t Settings::*field) {
  return {.name = name,
          .meaning = std::move(meaning),
          .set =
              [field, name](Settings& s, const std::string& text) {
                return absl::SimpleAtoi(text, &(s.*field)) ? absl::OkStatus()
                                                           : NotA(name, text, "a whole number");
              },
          .get = [field](const Settings& s) { return absl::StrCat(s.*field); }};
}

SettingEntry Number(std::string name, std::string meaning, double Settings::*field) {
  return {.name = name,
          .meaning = std::move(meaning),
          .set =
              [field, name](Settings& s, const std::string& text) {
                return absl::SimpleAtod(text, &(s.*field)) ? absl::OkStatus()
                                                           : NotA(name, text, "a number");
              },
          .get = [field](const Settings& s) { return absl::StrCat(s.*field); }};
}

SettingEntry Reloads(SettingEntry entry) {
  entry.reloads = true;
  return entry;
}

std::vector<SettingEntry> MakeTable() {
  using S = Settings;
  return {
      Text(
          "collector",
          "HOST:PORT of the collector's gRPC, or unix:/PATH of its socket; of several, with commas",
          &S::collector),
      Text("collector-ca", "authority of the collector's certificate; turns TLS on",
           &S::collector_ca),
      Text("collector-cert", "this agent's certificate, where the collector asks for one",
           &S::collector_cert),
      Text("collector-key", "its key", &S::collector_key),
      Text("http", "HOST:PORT for /metrics, /healthz, /readyz; port 0 = any, empty = off",
           &S::http),
      Text("http-cert", "certificate (PEM) of --http; turns TLS on", &S::http_cert),
      Text("http-key", "its key", &S::http_key),
      Text("http-client-ca", "authority of who may read --http; they must show a certificate",
           &S::http_client_ca),
      Text("shm-dir", "folder of the rings", &S::shm_dir),
      Switch("shared", "make the folder for all users", &S::shared),
      Text("node", "name of this node (default: the host's)", &S::node),
      Reloads(Text("log-level", "trace, debug, info, warn, error or off", &S::log_level)),
      Reloads(Text("log-format", "text, logfmt or json", &S::log_format)),
      Switch("insecure", "allow a non-loopback --http without certificates", &S::insecure),
      Switch("parent-death-signal", "end with the parent process", &S::parent_death_signal, true),
      Number("linger-s", "at the end, seconds to send what is left", &S::linger_s),
      Whole("max-rings", "rings read at once", &S::max_rings),
      Whole("log-rows", "ops kept of each rank", &S::log_rows),
      Number("log-minutes", "minutes of ops kept of each rank", &S::log_minutes),
      Number("poll-min-ms", "shortest time between two looks at the rings", &S::poll_min_ms),
      Number("poll-max-ms", "longest time between two looks at the rings", &S::poll_max_ms),
      Whole("buffer-mib", "MiB kept for a collector that is away", &S::buffer_mib),
      Text("spool", "folder that keeps what waits over this agent's end; empty = memory alone",
           &S::spool),
      Whole("spool-mib", "MiB of it, then the oldest goes", &S::spool_mib),
      Number("spool-hours", "hours that a message is kept in it", &S::spool_hours),
      Text("record", "folder to keep a recording in, for `fathom analyze`", &S::record),
      Whole("record-gib", "GiB of a recording after which ops are left out", &S::record_gib),
      Whole("nice", "niceness of the agent itself, at least", &S::nice),
      Number("budget-cpu", "per cent of a core that the agent may take; 0 = no limit",
             &S::budget_cpu),
      Whole("budget-mib", "MiB of memory that it may take; 0 = no limit", &S::budget_mib),
      Whole("budget-kbit", "kbit a second that it may send to the collector; 0 = no limit",
            &S::budget_kbit),
      Switch("hardware", "sample GPUs, network and RDMA ports, disks, processors and memory",
             &S::hardware),
      Text("nvml-library", "NVIDIA's management library, by name or path", &S::nvml_library),
      Text("stack-tool", "py-spy, by name or path, for the stacks of hanging ranks; empty = never",
           &S::stack_tool),
      Text("probe-tool", "fathom-probe, by name or path, for the collector's orders; empty = never",
           &S::probe_tool),
      Text("probe-off-file", "where this file is, this node is not probed", &S::probe_off_file),
      Number("probe-seconds", "longest time of the probes of one order", &S::probe_seconds),
      Whole("probe-memory-mib", "MiB that a probe may take; 0 = 512, of a GPU's 2048",
            &S::probe_memory_mib),
  };
}

std::size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

const std::vector<SettingEntry>& SettingsTable() {
  static const std::vector<SettingEntry> kTable = MakeTable();
  return kTable;
}

const SettingEntry* FindSetting(absl::string_view name) {
  const std::string wanted = absl::StrReplaceAll(name, {{"_", "-"}});
  for (const SettingEntry& entry : SettingsTable()) {
    if (entry.name == wanted) return &entry;
  }
  return nullptr;
}

std::string NearestSetting(absl::string_view name) {
  const auto& table = SettingsTable();
  return std::min_element(table.begin(), table.end(),
                          [&](const auto& a, const auto& b) {
                            return EditDistance(name, a.name) < EditDistance(name, b.name);
                          })
      ->name;
}

std::string EnvironmentName(absl::string_view name) {
  return absl::StrCat("FATHOM_", absl::AsciiStrToUpper(absl::StrReplaceAll(name, {{"-", "_"}})));
}

}  // namespace fathom::agent
