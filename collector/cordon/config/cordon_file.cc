// Reads the YAML file; the only place of fathom-cordon that sees yaml-cpp and its exceptions.
#include <absl/strings/str_cat.h>
#include <yaml-cpp/yaml.h>

#include "collector/cordon/config/cordon_config.h"

namespace fathom::cordon {
namespace {

absl::Status Bad(const std::string& file, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", why));
}

absl::Status ReadGroup(const std::string& file, const YAML::Node& node, NodeGroup& group) {
  if (!node.IsMap()) return Bad(file, "groups: each is {name, mode, nodes}");
  group.patterns.clear();
  for (const auto& entry : node) {
    const auto key = entry.first.as<std::string>();
    if (key == "name") {
      group.name = entry.second.as<std::string>();
    } else if (key == "nodes" && entry.second.IsSequence()) {
      group.patterns = entry.second.as<std::vector<std::string>>();
    } else if (key == "mode") {
      const auto mode = entry.second.as<std::string>();
      if (!ParseMode(mode, group.mode)) {
        return Bad(file, absl::StrCat("groups: mode '", mode,
                                      "' is none of observe, advise, approve, auto"));
      }
    } else {
      return Bad(file, absl::StrCat("groups: '", key, "' is none of name, mode, nodes: [...]"));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadEntry(const std::string& file, const std::string& key, const YAML::Node& value,
                       CordonConfig& config) {
  if (key == "groups" && value.IsSequence()) {
    config.limits.groups.clear();
    for (const auto& each : value) {
      NodeGroup group;
      if (auto status = ReadGroup(file, each, group); !status.ok()) return status;
      config.limits.groups.push_back(std::move(group));
    }
    return absl::OkStatus();
  }
  if (key == "causes" && value.IsSequence()) {
    config.limits.causes = value.as<std::vector<std::string>>();
    return absl::OkStatus();
  }
  if (!value.IsScalar()) return Bad(file, key + ": a single value is expected here");
  return collector::ApplySetting(CordonSettings(), file, key, value.as<std::string>(), config);
}

}  // namespace

absl::Status LoadCordonFile(const std::string& file, CordonConfig& config) {
  try {
    const YAML::Node root = YAML::LoadFile(file);
    if (root.IsNull()) return absl::OkStatus();
    if (!root.IsMap()) return Bad(file, "expected lines of NAME: VALUE");
    for (const auto& entry : root) {
      const auto key = entry.first.as<std::string>();
      if (auto status = ReadEntry(file, key, entry.second, config); !status.ok()) return status;
    }
    return absl::OkStatus();
  } catch (const YAML::BadFile&) {
    return Bad(file, "cannot be read; check the path given with --config");
  } catch (const YAML::Exception& error) {
    return Bad(file, error.what());
  }
}

}  // namespace fathom::cordon
