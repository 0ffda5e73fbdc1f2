// The one table of fathomd's settings: name, meaning, and how text becomes a value and back.
//
// Used by settings_loader. Thread-safety: pure. Errors: `set` returns InvalidArgument.
#ifndef FATHOM_DAEMON_AGENT_CONFIG_SETTINGS_TABLE_H_
#define FATHOM_DAEMON_AGENT_CONFIG_SETTINGS_TABLE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "daemon/agent/config/settings.h"

namespace fathom::agent {

struct SettingEntry {
  std::string name;  // as a flag: words joined by '-'
  std::string meaning;
  bool is_switch = false;  // a flag without a value
  bool hidden = false;
  bool reloads = false;  // SIGHUP takes it; everything else needs a restart
  std::function<absl::Status(Settings&, const std::string&)> set;
  std::function<std::string(const Settings&)> get;
};

const std::vector<SettingEntry>& SettingsTable();

// nullptr if there is none. '_' and '-' are the same.
const SettingEntry* FindSetting(absl::string_view name);
// The known name with the smallest edit distance.
std::string NearestSetting(absl::string_view name);
// "shm-dir" → "FATHOM_SHM_DIR".
std::string EnvironmentName(absl::string_view name);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_CONFIG_SETTINGS_TABLE_H_
