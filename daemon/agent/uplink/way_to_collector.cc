#include "daemon/agent/uplink/way_to_collector.h"

#include <unistd.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "daemon/service/agent_socket.h"
#include "daemon/service/loopback.h"

namespace fathom::agent {
namespace {

constexpr char kUnix[] = "unix:";

// The port, if it is one of this machine's loopback; else 0.
int LoopbackPort(const std::string& target) {
  const std::size_t colon = target.rfind(':');
  if (colon == std::string::npos) return 0;
  std::string host = target.substr(0, colon);
  if (host == "[::1]") host = "::1";
  int port = 0;
  const bool whole = absl::SimpleAtoi(target.substr(colon + 1), &port);
  return whole && service::IsLoopback(host) ? port : 0;
}

}  // namespace

absl::StatusOr<std::string> WayToCollector(const std::string& target, bool tls) {
  if (target.rfind(kUnix, 0) == 0) {
    const absl::Status status = service::CheckAgentSocket(target.substr(sizeof(kUnix) - 1));
    if (!status.ok()) return status;
    return target;
  }
  const int port = tls ? 0 : LoopbackPort(target);
  if (port == 0) return target;
  for (const std::string& folder : service::AgentSocketFolders()) {
    const std::string path = absl::StrCat(folder, "/", service::AgentSocketName(port));
    if (folder.empty() || access(path.c_str(), W_OK) != 0) continue;
    if (service::CheckAgentSocket(path).ok()) return absl::StrCat(kUnix, path);
  }
  return target;
}

}  // namespace fathom::agent
