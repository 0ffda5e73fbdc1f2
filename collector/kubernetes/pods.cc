#include "collector/kubernetes/pods.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "collector/kubernetes/node_hold.h"

namespace fathom::kubernetes {
namespace {

void Add(Resources& sum, const Resources& more) {
  for (const auto& [name, value] : more) sum[name] += value;
}

void TakeGreater(Resources& each, const Resources& other) {
  for (const auto& [name, value] : other) each[name] = std::max(each[name], value);
}

Resources QuantitiesOf(const Json& object) {
  Resources out;
  if (!object.is_object()) return out;
  for (const auto& [name, value] : object.items()) {
    if (value.is_string()) out[name] = QuantityOf(value.get<std::string>());
    if (value.is_number()) out[name] = value.get<double>();
  }
  return out;
}

Resources AskedBy(const Json& container) {
  return QuantitiesOf(At(At(container, "resources"), "requests"));
}

Resources RequestsOf(const Json& spec) {
  Resources sum, greatest;
  for (const Json& container : At(spec, "containers")) Add(sum, AskedBy(container));
  for (const Json& container : At(spec, "initContainers")) {
    if (TextAt(container, "restartPolicy") == "Always") {
      Add(sum, AskedBy(container));
    } else {
      TakeGreater(greatest, AskedBy(container));
    }
  }
  TakeGreater(sum, greatest);
  Add(sum, QuantitiesOf(At(spec, "overhead")));
  sum["pods"] = 1;
  return sum;
}

Pod PodOf(const Json& json) {
  const Json& metadata = At(json, "metadata");
  const Json& spec = At(json, "spec");
  const std::string phase = TextAt(At(json, "status"), "phase");
  return {.space = TextAt(metadata, "namespace"),
          .name = TextAt(metadata, "name"),
          .uid = TextAt(metadata, "uid"),
          .node = TextAt(spec, "nodeName"),
          .over = phase == "Succeeded" || phase == "Failed",
          .requests = RequestsOf(spec),
          .tolerations = At(spec, "tolerations")};
}

bool Tolerates(const Json& tolerations, const Json& taint) {
  for (const Json& each : tolerations) {
    const std::string key = TextAt(each, "key"), effect = TextAt(each, "effect");
    const bool exists = TextAt(each, "operator") == "Exists";
    if (!effect.empty() && effect != TextAt(taint, "effect")) continue;
    if (key.empty() ? exists
                    : key == TextAt(taint, "key") &&
                          (exists || TextAt(each, "value") == TextAt(taint, "value")))
      return true;
  }
  return false;
}

}  // namespace

double QuantityOf(const std::string& text) {
  static constexpr std::array<std::pair<const char*, double>, 14> kSuffixes = {{
      {"", 1},
      {"m", 1e-3},
      {"k", 1e3},
      {"M", 1e6},
      {"G", 1e9},
      {"T", 1e12},
      {"P", 1e15},
      {"u", 1e-6},
      {"n", 1e-9},
      {"Ki", 0x1p10},
      {"Mi", 0x1p20},
      {"Gi", 0x1p30},
      {"Ti", 0x1p40},
      {"Pi", 0x1p50},
  }};
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return 0;
  for (const auto& [suffix, factor] : kSuffixes) {
    if (std::string_view(end) == suffix) return number * factor;
  }
  return 0;
}

absl::StatusOr<std::vector<Pod>> ReadPods(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!At(json, "items").is_array()) {
    return absl::FailedPreconditionError("the answer has no list of pods");
  }
  std::vector<Pod> pods;
  for (const Json& item : At(json, "items")) pods.push_back(PodOf(item));
  return pods;
}

std::string PathOf(const Pod& pod) {
  return absl::StrCat("/api/v1/namespaces/", pod.space, "/pods/", pod.name);
}

std::string DeleteOptions(const Pod& pod) {
  return TextOf(
      Json{{"kind", "DeleteOptions"}, {"apiVersion", "v1"}, {"preconditions", {{"uid", pod.uid}}}});
}

std::string WhyNoRoom(const Json& node, const std::vector<Pod>& there,
                      const std::vector<Pod>& newcomers) {
  Resources left = QuantitiesOf(At(At(node, "status"), "allocatable")), wanted;
  for (const Pod& pod : there) {
    if (pod.over) continue;
    for (const auto& [name, value] : pod.requests) left[name] -= value;
  }
  for (const Pod& pod : newcomers) Add(wanted, pod.requests);
  for (const auto& [name, value] : wanted) {
    // Sums of decimal fractions are off by their rounding.
    if (value > left[name] * (1 + 1e-9) + 1e-9) {
      return absl::StrCat("of ", name, " ", std::max(0.0, left[name]), " are free, ", value,
                          " are asked for");
    }
  }
  return "";
}

std::string WhyClosed(const Json& node, const std::vector<Pod>& newcomers) {
  if (IsWithheld(node)) return absl::StrCat("it is cordoned (", NoteOf(node), ")");
  if (!HasCondition(node, "Ready")) return "it is not ready";
  for (const Json& taint : At(At(node, "spec"), "taints")) {
    if (TextAt(taint, "effect") == "PreferNoSchedule") continue;
    for (const Pod& pod : newcomers) {
      if (Tolerates(pod.tolerations, taint)) continue;
      return absl::StrCat("it has the taint ", TextAt(taint, "key"));
    }
  }
  return "";
}

}  // namespace fathom::kubernetes
