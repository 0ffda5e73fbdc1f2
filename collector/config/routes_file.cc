#include "collector/config/routes_file.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <utility>

#include "collector/config/nearest.h"
#include "diagnosis/model/entity.h"

namespace fathom::collector {
namespace {

using Words = std::vector<std::string>;

absl::Status Bad(const std::string& why) { return absl::InvalidArgumentError(why); }

const Words& Owners() {
  static const Words all = {"operations", "infrastructure", "algorithm"};
  return all;
}

Words Causes() {
  Words all;
  for (auto cause = diagnosis::Cause::kUnknown; cause <= diagnosis::Cause::kRegression;
       cause = static_cast<diagnosis::Cause>(static_cast<int>(cause) + 1)) {
    all.emplace_back(ToString(cause));
  }
  return all;
}

Words NamesOf(const std::vector<Receiver>& receivers) {
  Words names;
  for (const Receiver& each : receivers) names.push_back(each.name);
  return names;
}

// One word or a list of words.
absl::StatusOr<Words> WordsOf(const YAML::Node& node) {
  Words words;
  if (node.IsScalar()) return Words{node.as<std::string>()};
  if (!node.IsSequence()) return Bad("a word or a list of words is expected");
  for (const auto& each : node) {
    if (!each.IsScalar()) return Bad("a list of words is expected");
    words.push_back(each.as<std::string>());
  }
  return words;
}

absl::Status ReadKnown(const YAML::Node& node, const Words& known, const char* what, Words& out) {
  auto words = WordsOf(node);
  if (!words.ok()) return words.status();
  for (const std::string& word : *words) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    if (known.empty()) return Bad(absl::StrCat("'", word, "': notify names no receiver"));
    return Bad(absl::StrCat("'", word, "' is no ", what, "; did you mean '", Nearest(word, known),
                            "'? Known: ", absl::StrJoin(known, ", ")));
  }
  out = *std::move(words);
  return absl::OkStatus();
}

// "22:00" in minutes; −1 for what is no time of day.
int MinuteOf(std::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(std::string(text), ':');
  int hour = -1, minute = -1;
  const auto digits = [](const std::string& part) {
    return part.size() == 2 && part.find_first_not_of("0123456789") == part.npos;
  };
  if (parts.size() != 2 || !digits(parts[0]) || !digits(parts[1])) return -1;
  if (!absl::SimpleAtoi(parts[0], &hour) || !absl::SimpleAtoi(parts[1], &minute)) return -1;
  return hour < 24 && minute < 60 ? hour * 60 + minute : -1;
}

absl::Status ReadQuiet(const YAML::Node& node, std::optional<QuietHours>& out) {
  const std::string text = node.IsScalar() ? node.as<std::string>() : "";
  const std::vector<std::string> parts = absl::StrSplit(text, ' ', absl::SkipEmpty());
  const std::vector<std::string> times =
      absl::StrSplit(parts.empty() ? std::string() : parts[0], '-');
  QuietHours quiet;
  bool good = !parts.empty() && parts.size() <= 2 && times.size() == 2;
  if (good) {
    quiet.from = MinuteOf(times[0]);
    quiet.to = MinuteOf(times[1]);
    good = quiet.from >= 0 && quiet.to >= 0;
  }
  if (good && parts.size() == 2) {
    const char sign = parts[1].empty() ? ' ' : parts[1][0];
    const int offset = MinuteOf(parts[1].substr(1));
    good = offset >= 0 && (sign == '+' || sign == '-');
    quiet.offset = sign == '-' ? -offset : offset;
  }
  if (!good) {
    return Bad(absl::StrCat(
        "'", text, "' are no hours; write \"22:00-07:00\" (UTC) or \"22:00-07:00 +01:00\""));
  }
  out = quiet;
  return absl::OkStatus();
}

absl::Status ReadLabels(const YAML::Node& node, std::map<std::string, std::string>& out) {
  constexpr const char* kOwn[] = {"alertname", "severity", "episode", "job",
                                  "cause",     "owner",    "node"};
  if (!node.IsMap()) return Bad("NAME: VALUE is expected");
  for (const auto& each : node) {
    const auto name = each.first.as<std::string>();
    const bool letters =
        !name.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(name[0])) &&
        std::all_of(name.begin(), name.end(),
                    [](unsigned char c) { return absl::ascii_isalnum(c) || c == '_'; });
    if (!letters) return Bad(absl::StrCat("'", name, "' is no name of letters, digits and _"));
    if (std::find(std::begin(kOwn), std::end(kOwn), name) != std::end(kOwn)) {
      return Bad(absl::StrCat("'", name, "' is set by fathom itself"));
    }
    if (!each.second.IsScalar()) return Bad(absl::StrCat("'", name, "' has no single value"));
    out[name] = each.second.as<std::string>();
  }
  return absl::OkStatus();
}

absl::Status ReadRunbook(const YAML::Node& node, std::string& out) {
  out = node.IsScalar() ? node.as<std::string>() : "";
  if (out.starts_with("http://") || out.starts_with("https://")) return absl::OkStatus();
  return Bad(absl::StrCat("'", out, "' is no http:// or https:// address"));
}

absl::Status ReadKey(const std::string& key, const YAML::Node& value, const Words& receivers,
                     Route& route) {
  if (key == "owner") return ReadKnown(value, Owners(), "owner", route.owners);
  if (key == "cause") return ReadKnown(value, Causes(), "cause", route.causes);
  if (key == "to") return ReadKnown(value, receivers, "receiver of notify", route.to);
  if (key == "quiet") return ReadQuiet(value, route.quiet);
  if (key == "labels") return ReadLabels(value, route.labels);
  if (key == "runbook") return ReadRunbook(value, route.runbook);
  if (key == "job") {
    auto words = WordsOf(value);
    if (words.ok()) route.jobs = *std::move(words);
    return words.status();
  }
  const Words known = {"owner", "cause", "job", "to", "quiet", "labels", "runbook"};
  return Bad(absl::StrCat("no such key; did you mean '", Nearest(key, known), "'?"));
}

absl::StatusOr<Route> RouteOf(const YAML::Node& node, const Words& receivers) {
  Route route;
  if (!node.IsMap()) return Bad("lines of KEY: VALUE are expected");
  for (const auto& each : node) {
    const auto key = each.first.as<std::string>();
    if (auto status = ReadKey(key, each.second, receivers, route); !status.ok()) {
      return Bad(absl::StrCat(key, ": ", std::string(status.message())));
    }
  }
  if (!node["to"]) return Bad("to: is missing; write the receivers' names, or [] for nobody");
  return route;
}

absl::StatusOr<std::vector<Route>> RoutesOf(const YAML::Node& root, const Words& receivers) {
  std::vector<Route> routes;
  if (!root.IsMap() || root.size() != 1 || !root["routes"] || !root["routes"].IsSequence()) {
    return Bad("expected routes: with a list of rules, and nothing else");
  }
  for (const auto& each : root["routes"]) {
    auto route = RouteOf(each, receivers);
    if (!route.ok()) {
      return Bad(
          absl::StrCat("route ", routes.size() + 1, ": ", std::string(route.status().message())));
    }
    routes.push_back(*std::move(route));
    if (routes.size() > kMostRoutes) return Bad(absl::StrCat("more than ", kMostRoutes, " rules"));
  }
  return routes;
}

}  // namespace

absl::StatusOr<std::vector<Route>> ReadRoutes(const std::string& file,
                                              const std::vector<Receiver>& receivers) {
  if (file.empty()) return std::vector<Route>();
  try {
    auto routes = RoutesOf(YAML::LoadFile(file), NamesOf(receivers));
    if (routes.ok()) return routes;
    return Bad(absl::StrCat(file, ": ", std::string(routes.status().message())));
  } catch (const YAML::BadFile&) {
    return Bad(absl::StrCat(file, ": cannot be read; check the path given with notify_routes"));
  } catch (const YAML::Exception& error) {
    return Bad(absl::StrCat(file, ": ", error.what()));
  }
}

}  // namespace fathom::collector
