#include "daemon/agent/uplink/way_to_collector.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "daemon/agent/config/settings.h"
#include "daemon/service/agent_socket.h"
#include "daemon/service/loopback.h"

namespace fathom::agent {
namespace {

constexpr char kUnix[] = "unix:";

}  // namespace

absl::StatusOr<std::string> WayToCollector(const std::string& target, bool tls) {
  if (target.rfind(kUnix, 0) == 0) {
    const absl::Status status = service::CheckAgentSocket(target.substr(sizeof(kUnix) - 1));
    if (!status.ok()) return status;
    return target;
  }
  HostPort at;
  const bool here = !tls && ParseHostPort(target, at) && service::IsLoopback(at.host);
  const int port = here ? at.port : 0;
  if (port == 0) return target;
  for (const std::string& folder : service::AgentSocketFolders()) {
    const std::string path = absl::StrCat(folder, "/", service::AgentSocketName(port));
    if (folder.empty() || access(path.c_str(), W_OK) != 0) continue;
    if (service::CheckAgentSocket(path).ok()) return absl::StrCat(kUnix, path);
  }
  return target;
}

}  // namespace fathom::agent
