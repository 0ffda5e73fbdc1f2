// Gathers fathomd's settings: flag beats environment beats file beats default.
//
// Called by main. One table names every setting; flags, FATHOM_<NAME> and YAML keys come from it.
//
// Thread-safety: single-threaded. Errors: InvalidArgument with one line that says what to do; an
// unknown key or flag names the nearest known one.
#ifndef FATHOM_DAEMON_AGENT_CONFIG_SETTINGS_LOADER_H_
#define FATHOM_DAEMON_AGENT_CONFIG_SETTINGS_LOADER_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/agent/config/settings.h"

namespace fathom::agent {

// What the command line asks for besides running.
struct Invocation {
  enum class What : std::uint8_t { kRun, kCheck, kPrint, kHelp, kVersion };
  What what = What::kRun;
  Settings settings;
  std::string text;  // of help
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// `arguments` without the program's name.
absl::StatusOr<Invocation> LoadSettings(const std::vector<std::string>& arguments,
                                        const Environment& environment);

// The settings as YAML that --config takes.
std::string PrintSettings(const Settings& settings);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_CONFIG_SETTINGS_LOADER_H_
