#include "collector/net/secret_file.h"

#include <absl/strings/str_cat.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace fathom::collector {

absl::Status CheckSecretFile(const std::string& file) {
  struct stat facts {};
  if (stat(file.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return absl::OkStatus();
  if ((facts.st_mode & (S_IROTH | S_IWOTH)) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": everybody on this machine can read or write it; chmod o-rw ", file));
}

absl::StatusOr<std::string> ReadSecretFile(const std::string& file) {
  if (auto status = CheckSecretFile(file); !status.ok()) return status;
  std::ifstream stream(file);
  if (!stream) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": ", std::strerror(errno)));
  }
  std::string line;
  std::getline(stream >> std::ws, line);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
  if (line.empty()) return absl::InvalidArgumentError(absl::StrCat(file, ": it is empty"));
  return line;
}

}  // namespace fathom::collector
