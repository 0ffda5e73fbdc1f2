// Every setting by name: how it is read from text, shown, and where its text came from.
//
// One table serves flags (--log-level), the YAML file (log_level; diagnosis.delta inside
// `diagnosis:`) and the environment (FATHOM_LOG_LEVEL, FATHOM_DIAGNOSIS_DELTA). Flag beats
// environment beats file beats default.
// Thread-safety: pure but for LoadEnvironment (reads the environment). Errors: InvalidArgument;
// an unknown key names the nearest known one.
#ifndef FATHOM_COLLECTOR_CONFIG_SETTINGS_H_
#define FATHOM_COLLECTOR_CONFIG_SETTINGS_H_

#include <absl/status/status.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "collector/config/collector_config.h"

namespace fathom::collector {

struct Setting {
  std::string name;  // "log_level", "diagnosis.delta"
  std::string help;
  bool is_switch = false;
  bool hidden = false;
  std::function<absl::Status(CollectorConfig&, const std::string&)> set;
  std::function<std::string(const CollectorConfig&)> get;

  std::string flag() const;         // "--log-level"
  std::string environment() const;  // "FATHOM_LOG_LEVEL"
};

const std::vector<Setting>& Settings();

using Texts = std::map<std::string, std::string>;  // by setting name

// `origin` prefixes errors: a file's name, "environment", "command line".
absl::Status Apply(const Texts& texts, const std::string& origin, CollectorConfig& config);
Texts LoadEnvironment();
absl::Status LoadFile(const std::string& file, Texts& texts);
std::string Print(const CollectorConfig& config);  // as a YAML file that LoadFile reads

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CONFIG_SETTINGS_H_
