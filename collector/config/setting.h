// One setting of a program: how text becomes its value and back, and what may be shown of it.
//
// Used by the tables of fathom-collector (config/settings) and fathom-cordon (cordon/config).
// Header only.
//
// Model: a program has one list of settings of its Config. "log_level" is a key of the YAML file,
// the flag --log-level and the variable PREFIX_LOG_LEVEL. A setting is a member of the Config or of
// a part of it.
//
// Thread-safety: pure functions. Errors: InvalidArgument; "ORIGIN: NAME: why", and for an unknown
// name the nearest known one.
#ifndef FATHOM_COLLECTOR_CONFIG_SETTING_H_
#define FATHOM_COLLECTOR_CONFIG_SETTING_H_

#include <absl/status/status.h>
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "collector/config/nearest.h"
#include "proto/types/bounds.h"
#include "proto/types/time_units.h"

namespace fathom::collector {

// A text as the YAML file takes it: in quotes where it would be read as something else.
inline std::string YamlText(const std::string& text) {
  if (text.empty()) return "\"\"";
  const bool begins_plain = absl::ascii_isalnum(static_cast<unsigned char>(text[0])) ||
                            text[0] == '/' || text[0] == '.' || text[0] == '_';
  const bool plain = begins_plain && !absl::StrContains(text, ": ") &&
                     !absl::StrContains(text, " #") && text.back() != ':' && text.back() != ' ';
  return plain ? text : absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "''"}}), "'");
}

template <typename Config>
struct SettingOf {
  std::string name;  // "log_level", "diagnosis.delta"
  std::string help;
  bool is_switch = false;
  bool hidden = false;
  bool reloads = false;  // SIGHUP takes it; everything else needs a restart
  std::function<absl::Status(Config&, const std::string&)> set = {};
  std::function<std::string(const Config&)> get = {};
  std::function<std::string(const Config&)> show = {};  // what may be printed; empty: get

  std::string flag() const { return "--" + With('-'); }
  // `prefix`: "FATHOM_".
  std::string variable(const std::string& prefix) const {
    return prefix + absl::AsciiStrToUpper(With('_'));
  }
  // As a value of the YAML file.
  std::string Printed(const Config& config) const {
    const std::string value = show ? show(config) : get(config);
    return YamlText(value);
  }

 private:
  std::string With(char between) const {
    std::string text = name;
    for (char& c : text) c = c == '.' || c == '_' ? between : c;
    return text;
  }
};

inline absl::Status ParseSetting(const std::string& text, std::string& out) {
  out = text;
  return absl::OkStatus();
}

inline absl::Status ParseSetting(const std::string& text, bool& out) {
  if (absl::SimpleAtob(text, &out)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is neither true nor false"));
}

template <typename Integer>
absl::Status ParseSetting(const std::string& text, Integer& out) {
  if (absl::SimpleAtoi(text, &out)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a whole number"));
}

inline absl::Status ParseSetting(const std::string& text, double& out) {
  if (absl::SimpleAtod(text, &out)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a number"));
}

// In seconds.
inline absl::Status ParseSetting(const std::string& text, Nanos& out) {
  double seconds = 0;
  if (auto status = ParseSetting(text, seconds); !status.ok()) return status;
  // Not of infinity or of no number either: those comparisons are false.
  if (!(std::abs(seconds) <= Nanos(kFarMonoNs).Seconds())) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' seconds are too many"));
  }
  out = Nanos::FromSeconds(seconds);
  return absl::OkStatus();
}

inline std::string SettingText(const std::string& value) { return value; }
inline std::string SettingText(bool value) { return value ? "true" : "false"; }
inline std::string SettingText(Nanos value) { return absl::StrCat(value.Seconds()); }
template <typename Number>
std::string SettingText(Number value) {
  return absl::StrCat(value);
}

template <typename Config, typename T>
SettingOf<Config> MakeSetting(std::string name, T Config::*field, std::string help) {
  SettingOf<Config> setting{std::move(name), std::move(help), std::is_same_v<T, bool>};
  setting.set = [field](Config& c, const std::string& text) {
    return ParseSetting(text, c.*field);
  };
  setting.get = [field](const Config& c) { return SettingText(c.*field); };
  return setting;
}

template <typename Config, typename Part, typename T>
SettingOf<Config> MakeSetting(std::string name, Part Config::*part, T Part::*field,
                              std::string help) {
  SettingOf<Config> setting{std::move(name), std::move(help), std::is_same_v<T, bool>};
  setting.set = [part, field](Config& c, const std::string& text) {
    return ParseSetting(text, c.*part.*field);
  };
  setting.get = [part, field](const Config& c) { return SettingText(c.*part.*field); };
  return setting;
}

template <typename Config>
SettingOf<Config> Hidden(SettingOf<Config> setting) {
  setting.hidden = true;
  return setting;
}

template <typename Config>
SettingOf<Config> Reloads(SettingOf<Config> setting) {
  setting.reloads = true;
  return setting;
}

// Printed as `mask` gives it: what it hides may be a secret.
template <typename Config>
SettingOf<Config> Masked(SettingOf<Config> setting, std::string (*mask)(const std::string&)) {
  setting.show = [get = setting.get, mask](const Config& c) { return mask(get(c)); };
  return setting;
}

// One table of several, in their order.
template <typename Config>
std::vector<SettingOf<Config>> JoinSettings(
    const std::vector<std::vector<SettingOf<Config>>>& tables) {
  std::vector<SettingOf<Config>> all;
  for (const auto& table : tables) all.insert(all.end(), table.begin(), table.end());
  return all;
}

template <typename Config>
absl::Status ApplySetting(const std::vector<SettingOf<Config>>& all, const std::string& origin,
                          const std::string& name, const std::string& text, Config& config) {
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
  if (at == all.end()) {
    std::vector<std::string> known;
    for (const auto& each : all) known.push_back(each.name);
    return absl::InvalidArgumentError(absl::StrCat(
        origin, ": no setting '", name, "'; did you mean '", Nearest(name, known), "'?"));
  }
  if (auto status = at->set(config, text); !status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(origin, ": ", name, ": ", std::string(status.message())));
  }
  return absl::OkStatus();
}

// The names of those that differ and do not reload.
template <typename Config>
std::vector<std::string> ChangedForRestart(const std::vector<SettingOf<Config>>& all,
                                           const Config& held, const Config& anew) {
  std::vector<std::string> names;
  for (const auto& each : all) {
    if (!each.reloads && each.get(held) != each.get(anew)) names.push_back(each.name);
  }
  return names;
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CONFIG_SETTING_H_
