#include "daemon/agent/config/settings.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "daemon/service/agent_socket.h"
#include "daemon/service/log_lines.h"
#include "daemon/service/loopback.h"

namespace fathom::agent {
namespace {

absl::Status Bad(const char* name, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("--", name, ": ", why));
}

absl::Status CheckCollector(const std::string& collector) {
  HostPort address;
  const bool socket = collector.rfind("unix:/", 0) == 0;
  if (socket && collector.size() > service::kLongestSocketPath + 5) {
    return Bad("collector", absl::StrCat("'", collector, "' is too long for a unix socket"));
  }
  if (!socket && (!ParseHostPort(collector, address) || address.port == 0)) {
    return Bad("collector", absl::StrCat("'", collector, "' is not HOST:PORT, nor unix:/PATH"));
  }
  return absl::OkStatus();
}

absl::Status CheckAddresses(const Settings& s) {
  HostPort address;
  for (const std::string& collector : CollectorsOf(s.collector)) {
    if (auto status = CheckCollector(collector); !status.ok()) return status;
  }
  if (s.http.empty()) return absl::OkStatus();
  if (!ParseHostPort(s.http, address)) {
    return Bad("http", absl::StrCat("'", s.http, "' is not HOST:PORT"));
  }
  const bool closed = !s.http_cert.empty() && !s.http_client_ca.empty();
  if (!service::IsLoopback(address.host) && !closed && !s.insecure) {
    return Bad("http", absl::StrCat(address.host,
                                    " is not loopback; bind to 127.0.0.1, set --http-cert, "
                                    "--http-key and --http-client-ca, or say --insecure if the "
                                    "network is trusted"));
  }
  return absl::OkStatus();
}

absl::Status CheckTls(const Settings& s) {
  if (!s.collector_ca.empty() && s.collector.rfind("unix:/", 0) == 0) {
    return Bad("collector-ca", "a unix socket needs none: the kernel says who listens there");
  }
  if (s.collector_ca.empty() && !s.collector_cert.empty()) {
    return Bad("collector-ca", "is needed with --collector-cert");
  }
  if (s.http_cert.empty() && !s.http_client_ca.empty()) {
    return Bad("http-cert", "is needed with --http-client-ca");
  }
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const WallNs wall(std::chrono::nanoseconds(now).count());
  const absl::Status uplink = service::CheckTlsFiles(
      CollectorTls(s), {"--collector-cert", "--collector-key", "--collector-ca"}, wall);
  return uplink.ok() ? service::CheckTlsFiles(HttpTls(s), HttpTlsNames(), wall) : uplink;
}

absl::Status CheckRanges(const Settings& s) {
  constexpr std::array kLevels = {"trace", "debug", "info", "warn", "error", "off"};
  if (std::find(kLevels.begin(), kLevels.end(), s.log_level) == kLevels.end()) {
    return Bad("log-level",
               absl::StrCat("'", s.log_level, "' is none of trace debug info warn error off"));
  }
  if (!service::LogLines::FormatOf(s.log_format)) {
    return Bad("log-format", absl::StrCat("'", s.log_format, "' is none of text, logfmt, json"));
  }
  if (s.shm_dir.empty() || s.shm_dir[0] != '/') return Bad("shm-dir", "must be an absolute path");
  if (s.max_rings == 0 || s.max_rings > 65'536) return Bad("max-rings", "must be 1 to 65536");
  if (s.log_rows < 1024 || s.log_rows > 65'536) return Bad("log-rows", "must be 1024 to 65536");
  if (!(s.log_minutes > 0)) return Bad("log-minutes", "must be above 0");
  if (!(s.poll_min_ms >= 0.1) || !(s.poll_max_ms >= s.poll_min_ms) || s.poll_max_ms > 1000) {
    return Bad("poll-min-ms", "0.1 <= poll-min-ms <= poll-max-ms <= 1000 must hold");
  }
  if (!(s.linger_s >= 0 && s.linger_s <= 60)) return Bad("linger-s", "must be 0 to 60");
  if (s.buffer_mib == 0 || s.buffer_mib > 4096) return Bad("buffer-mib", "must be 1 to 4096");
  if (s.spool_mib < 32 || s.spool_mib > 1'048'576) {
    return Bad("spool-mib", "must be 32 to 1048576");
  }
  if (!(s.spool_hours > 0 && s.spool_hours <= 8760)) {
    return Bad("spool-hours", "must be above 0 and at most 8760");
  }
  if (s.record_gib == 0 || s.record_gib > 65'536) return Bad("record-gib", "must be 1 to 65536");
  if (s.nice > 19) return Bad("nice", "must be 0 to 19");
  if (!(s.budget_cpu >= 0 && s.budget_cpu <= 6400)) return Bad("budget-cpu", "must be 0 to 6400");
  return absl::OkStatus();
}

}  // namespace

bool ParseHostPort(const std::string& text, HostPort& out) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  std::string host = text.substr(0, colon);
  if (host.front() == '[') {
    if (host.size() < 3 || host.back() != ']') return false;
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    return false;
  }
  std::uint16_t port = 0;
  const char* begin = text.data() + colon + 1;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(begin, end, port);
  if (parsed.ec != std::errc() || parsed.ptr != end) return false;
  out = {host, port};
  return true;
}

service::TlsFiles CollectorTls(const Settings& settings) {
  return {settings.collector_cert, settings.collector_key, settings.collector_ca};
}

service::TlsFiles HttpTls(const Settings& settings) {
  return {settings.http_cert, settings.http_key, settings.http_client_ca};
}

service::TlsNames HttpTlsNames() { return {"--http-cert", "--http-key", "--http-client-ca"}; }

std::vector<std::string> CollectorsOf(const std::string& collector) {
  std::vector<std::string> all = absl::StrSplit(collector, ',', absl::SkipEmpty());
  if (all.empty()) all.push_back(collector);
  return all;
}

absl::Status Validate(const Settings& settings) {
  if (absl::Status status = CheckAddresses(settings); !status.ok()) return status;
  if (absl::Status status = CheckTls(settings); !status.ok()) return status;
  return CheckRanges(settings);
}

std::string NodeName(const Settings& settings) {
  if (!settings.node.empty()) return settings.node;
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown";
}

}  // namespace fathom::agent
