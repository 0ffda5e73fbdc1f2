// Reads the YAML file of settings; the only place that sees yaml-cpp and its exceptions.
#include <absl/strings/str_cat.h>
#include <yaml-cpp/yaml.h>

#include "collector/config/settings.h"

namespace fathom::collector {
namespace {

absl::Status Bad(const std::string& file, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", why));
}

absl::Status Flatten(const YAML::Node& node, const std::string& prefix, const std::string& file,
                     Texts& texts) {
  for (const auto& entry : node) {
    const std::string name = prefix + entry.first.as<std::string>();
    if (entry.second.IsMap() && prefix.empty()) {
      if (auto status = Flatten(entry.second, name + ".", file, texts); !status.ok()) return status;
    } else if (entry.second.IsScalar()) {
      texts[name] = entry.second.as<std::string>();
    } else if (!entry.second.IsNull()) {
      return Bad(file, absl::StrCat(name, ": a single value is expected here"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status LoadFile(const std::string& file, Texts& texts) {
  try {
    const YAML::Node root = YAML::LoadFile(file);
    if (root.IsNull()) return absl::OkStatus();
    if (!root.IsMap()) return Bad(file, "expected lines of NAME: VALUE");
    return Flatten(root, "", file, texts);
  } catch (const YAML::BadFile&) {
    return Bad(file, "cannot be read; check the path given with --config");
  } catch (const YAML::Exception& error) {
    return Bad(file, error.what());
  }
}

}  // namespace fathom::collector
