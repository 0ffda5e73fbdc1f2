#include "collector/cordon/serve/tokens.h"

#include <openssl/crypto.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

namespace fathom::cordon {
namespace {

constexpr std::size_t kMinToken = 16;

bool Same(const std::string& a, const std::string& b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

absl::StatusOr<std::string> OperatorOf(const std::string& file, const std::string& token) {
  if (file.empty()) {
    return absl::FailedPreconditionError("no tokens are set up, so nobody can change anything");
  }
  struct stat facts {};
  if (stat(file.c_str(), &facts) != 0) {
    return absl::FailedPreconditionError(file + ": the tokens cannot be read");
  }
  if ((facts.st_mode & 07) != 0) {
    return absl::FailedPreconditionError(file + ": everybody can read the tokens; chmod 0640 it");
  }
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, role, secret;
    if (!(words >> name >> role >> secret) || name[0] == '#' || secret.size() < kMinToken) continue;
    if (!Same(secret, token)) continue;
    if (role == "operator") return name;
    return absl::PermissionDeniedError(name + " is a " + role + " and may not change anything");
  }
  return absl::UnauthenticatedError("the token is nobody's");
}

}  // namespace fathom::cordon
