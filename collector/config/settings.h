// The settings of fathom-collector (config/setting.h), and where their texts came from.
//
// One table serves flags (--log-level), the YAML file (log_level; diagnosis.delta inside
// `diagnosis:`) and the environment (FATHOM_LOG_LEVEL, FATHOM_DIAGNOSIS_DELTA). Flag beats
// environment beats file beats default.
// Thread-safety: pure but for LoadEnvironment (reads the environment). Errors: InvalidArgument;
// an unknown key names the nearest known one.
#ifndef FATHOM_COLLECTOR_CONFIG_SETTINGS_H_
#define FATHOM_COLLECTOR_CONFIG_SETTINGS_H_

#include <absl/status/status.h>

#include <map>
#include <string>
#include <vector>

#include "collector/config/collector_config.h"
#include "collector/config/setting.h"

namespace fathom::collector {

using Setting = SettingOf<CollectorConfig>;

const std::vector<Setting>& Settings();

using Texts = std::map<std::string, std::string>;  // by setting name

// `origin` prefixes errors: a file's name, "environment", "command line". A setting that only an
// earlier version had is no error, or an upgrade would stop the collector: it goes to `unread`.
absl::Status Apply(const Texts& texts, const std::string& origin, CollectorConfig& config);
Texts LoadEnvironment();
absl::Status LoadFile(const std::string& file, Texts& texts);
// As a YAML file that LoadFile reads, but for the receivers, which are secrets and shown as far as
// the host.
std::string Print(const CollectorConfig& config);
// The settings that differ and do not reload.
std::vector<std::string> NeedRestart(const CollectorConfig& held, const CollectorConfig& anew);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CONFIG_SETTINGS_H_
