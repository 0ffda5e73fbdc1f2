#include "daemon/agent/config/settings_loader.h"

#include <yaml-cpp/yaml.h>

#include <CLI/CLI.hpp>
#include <deque>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "daemon/agent/config/settings_table.h"

namespace fathom::agent {
namespace {

using Values = std::map<std::string, std::string>;

absl::Status UnknownKey(const std::string& where, const std::string& key) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": unknown setting '", key,
                                                 "'; did you mean '", NearestSetting(key), "'?"));
}

// yaml-cpp reports by exceptions; they end here.
absl::StatusOr<Values> ReadFile(const std::string& path) {
  Values values;
  try {
    const YAML::Node root = YAML::LoadFile(path);
    if (root.IsNull()) return values;
    if (!root.IsMap()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": not a map of settings"));
    }
    for (const auto& item : root) {
      const auto key = item.first.as<std::string>();
      const SettingEntry* entry = FindSetting(key);
      if (entry == nullptr) return UnknownKey(path, key);
      values[entry->name] = item.second.as<std::string>();
    }
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", error.what()));
  }
  return values;
}

Values ReadEnvironment(const Environment& environment) {
  Values values;
  for (const SettingEntry& entry : SettingsTable()) {
    const auto value = environment(EnvironmentName(entry.name));
    if (value.has_value()) values[entry.name] = *value;
  }
  return values;
}

struct Parsed {
  Values flags;
  std::string config;
  Invocation::What what = Invocation::What::kRun;
  std::string help;
};

absl::Status ParseError(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> extras = app.remaining(true);
  if (!extras.empty() && extras.front().starts_with("--")) {
    const std::string name = extras.front().substr(2);
    return UnknownKey("command line", name.substr(0, name.find('=')));
  }
  return absl::InvalidArgumentError(error.what());
}

absl::StatusOr<Parsed> ParseFlags(const std::vector<std::string>& arguments) {
  Parsed parsed;
  CLI::App app("fathomd: reads the rings of this node's training processes", "fathomd");
  std::deque<std::pair<const SettingEntry*, std::string>> texts;
  std::map<const SettingEntry*, CLI::Option*> options;
  for (const SettingEntry& entry : SettingsTable()) {
    texts.emplace_back(&entry, "");
    const std::string group = entry.hidden ? "" : "Options";
    CLI::Option* option =
        entry.is_switch ? app.add_flag("--" + entry.name, texts.back().second, entry.meaning)
                        : app.add_option("--" + entry.name, texts.back().second, entry.meaning);
    options[&entry] = option->group(group);
  }
  app.footer("Every setting is also a key of --config FILE and FATHOM_<NAME>.");
  bool check = false;
  bool print = false;
  bool version = false;
  app.add_option("--config", parsed.config, "YAML file of settings");
  app.add_flag("--check-config", check, "check the settings and end");
  app.add_flag("--print-config", print, "print the settings in force and end");
  app.add_flag("--version", version, "print the version and end");
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    parsed.what = Invocation::What::kHelp;
    parsed.help = app.help();
    return parsed;
  } catch (const CLI::ParseError& error) {
    return ParseError(app, error);
  }
  for (const auto& [entry, text] : texts) {
    if (options[entry]->count() > 0) parsed.flags[entry->name] = text;
  }
  if (check) parsed.what = Invocation::What::kCheck;
  if (print) parsed.what = Invocation::What::kPrint;
  if (version) parsed.what = Invocation::What::kVersion;
  return parsed;
}

absl::Status Apply(const std::string& where, const Values& values, Settings& settings) {
  for (const auto& [name, value] : values) {
    absl::Status status = FindSetting(name)->set(settings, value);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Invocation> LoadSettings(const std::vector<std::string>& arguments,
                                        const Environment& environment) {
  absl::StatusOr<Parsed> parsed = ParseFlags(arguments);
  if (!parsed.ok()) return parsed.status();
  Invocation out;
  out.what = parsed->what;
  out.text = parsed->help;
  if (parsed->config.empty()) parsed->config = environment("FATHOM_CONFIG").value_or("");
  Values file;
  if (!parsed->config.empty()) {
    absl::StatusOr<Values> read = ReadFile(parsed->config);
    if (!read.ok()) return read.status();
    file = *std::move(read);
  }
  for (const auto& [where, values] :
       {std::pair("config file", file), std::pair("environment", ReadEnvironment(environment)),
        std::pair("command line", parsed->flags)}) {
    if (absl::Status status = Apply(where, values, out.settings); !status.ok()) return status;
  }
  if (absl::Status status = Validate(out.settings); !status.ok()) return status;
  return out;
}

std::string PrintSettings(const Settings& settings) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  for (const SettingEntry& entry : SettingsTable()) {
    if (entry.hidden) continue;
    const std::string key = absl::StrReplaceAll(entry.name, {{"-", "_"}});
    out << YAML::Key << key << YAML::Value << entry.get(settings);
  }
  out << YAML::EndMap;
  return absl::StrCat(out.c_str(), "\n");
}

}  // namespace fathom::agent
