#include "collector/cli/http/access.h"

#include <cstdlib>
#include <fstream>

#include "collector/cli/text.h"

namespace fathom::cli {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

Access AccessFromEnvironment() {
  return {Variable("FATHOM_TOKEN_FILE"), Variable("FATHOM_CA_FILE")};
}

absl::StatusOr<std::string> TokenFrom(const std::string& file) {
  std::ifstream stream(file);
  std::string token;
  stream >> token;
  if (token.empty()) return absl::NotFoundError(Cat(file, " holds no token"));
  for (const char c : token) {
    if (c < '!' || c > '~') return absl::InvalidArgumentError(Cat(file, " holds no plain token"));
  }
  return token;
}

absl::StatusOr<HostPort> ServerOf(std::string_view address, const Access& access) {
  constexpr std::string_view kHttps = "https://", kHttp = "http://";
  const bool tls = address.starts_with(kHttps);
  if (tls) address.remove_prefix(kHttps.size());
  if (address.starts_with(kHttp)) address.remove_prefix(kHttp.size());
  absl::StatusOr<HostPort> server = ParseHostPort(address);
  if (!server.ok()) return server;
  server->tls = tls;
  server->ca_file = access.ca_file;
  if (access.token_file.empty()) return server;
  absl::StatusOr<std::string> token = TokenFrom(access.token_file);
  if (!token.ok()) return token.status();
  server->token = *std::move(token);
  return server;
}

}  // namespace fathom::cli
