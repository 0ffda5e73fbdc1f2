#include "collector/config/cluster_settings.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <unistd.h>

#include <string_view>

#include "collector/net/listen_probe.h"
#include "collector/net/masked_url.h"
#include "collector/store/database/database.h"
#include "daemon/service/loopback.h"

namespace fathom::collector {
namespace {

constexpr std::string_view kClear = "nats://", kPrivate = "tls://";

absl::Status Bad(const std::string& text) { return absl::InvalidArgumentError(text); }

absl::Status CheckServer(std::string_view url, bool insecure) {
  const std::string shown = WithoutUser(url);
  const bool clear = url.starts_with(kClear);
  if (!clear && !url.starts_with(kPrivate)) {
    return Bad(absl::StrCat("cluster_bus: '", shown, "' is not nats://HOST:PORT, nor tls://…"));
  }
  url.remove_prefix(clear ? kClear.size() : kPrivate.size());
  const auto at = url.rfind('@');
  if (at != std::string_view::npos) url.remove_prefix(at + 1);
  HostPort where;
  if (auto status = ParseHostPort(std::string(url), where); !status.ok()) {
    return Bad(absl::StrCat("cluster_bus: '", shown, "': ", std::string(status.message())));
  }
  if (!clear || insecure || service::IsLoopback(where.host)) return absl::OkStatus();
  return Bad(absl::StrCat("cluster_bus: what agents tell would cross the network to ", where.host,
                          " in clear; give tls://HOST:PORT, or say --insecure"));
}

absl::Status Within(const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return Bad(absl::StrCat(name, " is ", value, "; it must lie from ", least, " to ", most));
}

}  // namespace

absl::Status CheckCluster(const ClusterConfig& cluster, const std::string& store, bool insecure) {
  for (const absl::Status& status :
       {Within("cluster_lease_s", cluster.lease_s, 2, 60),
        Within("cluster_replicas", static_cast<double>(cluster.replicas), 1, 5),
        Within("cluster_log_gib", cluster.log_gib, 0.01, 1 << 20)}) {
    if (!status.ok()) return status;
  }
  if (!cluster.on()) return absl::OkStatus();
  const std::vector<std::string> urls =
      absl::StrSplit(cluster.bus, absl::ByAnyChar(", "), absl::SkipEmpty());
  if (urls.empty()) return Bad("cluster_bus: names no server");
  for (const std::string& url : urls) {
    if (auto status = CheckServer(url, insecure); !status.ok()) return status;
  }
  for (const auto& [name, file] : {std::pair("cluster_credentials", cluster.credentials),
                                   std::pair("cluster_ca", cluster.ca)}) {
    if (!file.empty() && access(file.c_str(), R_OK) != 0) {
      return Bad(absl::StrCat(name, ": ", file, " cannot be read"));
    }
  }
  if (!Database::IsShared(store)) {
    return Bad(
        "cluster_bus: several collectors share one history; give store as "
        "postgresql://USER@HOST/DATABASE");
  }
  return absl::OkStatus();
}

std::string MachineName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 && name[0] != '\0' ? name : "collector";
}

}  // namespace fathom::collector
