#include "collector/cli/run/served_folder.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "collector/cli/http/http_client.h"

namespace fathom::cli {

std::string NodeShmFolder() {
  const char* set = std::getenv("FATHOM_SHM_DIR");
  return set != nullptr && *set != '\0' ? set : "/dev/shm/fathom";
}

bool AgentAnswers(const HostPort& address) {
  HttpClient::Options options;
  options.timeout = std::chrono::milliseconds(500);
  const absl::StatusOr<HttpReply> reply = HttpClient(address, options).Get("/healthz");
  return reply.ok() && reply->status == 200;
}

bool IsServed(const std::string& folder) {
  if (access(folder.c_str(), W_OK | X_OK) != 0) return false;
  const absl::StatusOr<HostPort> agent = ParseHostPort(kAgentHttp);
  return agent.ok() && AgentAnswers(*agent);
}

}  // namespace fathom::cli
