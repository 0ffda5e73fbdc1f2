#include "collector/admission/witness.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>

namespace fathom::collector {
namespace {

bool Matches(const std::string& name, const std::string& node, bool wildcards) {
  if (!name.starts_with("*.")) return absl::EqualsIgnoreCase(name, node);
  const auto dot = node.find('.');
  return wildcards && dot != std::string::npos && dot > 0 &&
         absl::EqualsIgnoreCase(name.substr(1), node.substr(dot));
}

}  // namespace

absl::Status Witness::MaySpeakFor(const std::string& node) const {
  if (!refused.empty()) return absl::PermissionDeniedError(refused);
  if (!names) return absl::OkStatus();
  const auto same = [&](const std::string& name) { return Matches(name, node, wildcards); };
  if (std::any_of(names->begin(), names->end(), same)) return absl::OkStatus();
  const std::string allowed = names->empty() ? "no node" : absl::StrJoin(*names, ", ");
  return absl::PermissionDeniedError(absl::StrCat(
      "the certificate speaks for ", allowed, " and not for node ", node,
      "; give the node a certificate of its own name, or set the agent's --node to that name"));
}

}  // namespace fathom::collector
