#include "collector/cli/process/state_folder.h"

#include <unistd.h>

#include <cstdlib>

namespace fathom::cli {

std::filesystem::path StateFolder() {
  if (geteuid() == 0) return "/var/lib/fathom";
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state != '\0') return std::filesystem::path(state) / "fathom";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "." : home) / ".local/state/fathom";
}

}  // namespace fathom::cli
