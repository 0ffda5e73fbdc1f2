#include "collector/cli/http/access.h"

#include <cstdlib>
#include <fstream>

#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The first word of the file.
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

}  // namespace

Access Access::OrElse(const Access& usual) const {
  return {token_file.empty() ? usual.token_file : token_file,
          ca_file.empty() ? usual.ca_file : ca_file};
}

Access AccessFromEnvironment() {
  return {Variable("FATHOM_TOKEN_FILE"), Variable("FATHOM_CA_FILE")};
}

Access CordonAccess() {
  Access access = AccessFromEnvironment();
  const char* own = std::getenv("FATHOM_CORDON_TOKEN_FILE");
  if (own != nullptr) access.token_file = own;
  return access;
}

absl::StatusOr<HostPort> ServerOf(std::string_view address, const Access& access) {
  constexpr std::string_view kHttps = "https://", kHttp = "http://";
  const bool tls = address.starts_with(kHttps);
  if (tls) {
    address.remove_prefix(kHttps.size());
  } else if (address.starts_with(kHttp)) {
    address.remove_prefix(kHttp.size());
  }
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
