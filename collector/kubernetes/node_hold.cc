#include "collector/kubernetes/node_hold.h"

namespace fathom::kubernetes {
namespace {

constexpr char kAnnotation[] = "fathom.dev/held-by";
constexpr char kAnnotationPath[] = "/metadata/annotations/fathom.dev~1held-by";
constexpr char kTaint[] = "fathom.dev/suspect";

// Where our taint stands in the list; -1: nowhere. An API server takes no second one of its kind.
int OurTaint(const Json& spec) {
  const Json& taints = At(spec, "taints");
  for (std::size_t i = 0; taints.is_array() && i < taints.size(); ++i) {
    if (TextAt(taints[i], "key") == kTaint && TextAt(taints[i], "effect") == "NoSchedule") {
      return static_cast<int>(i);
    }
  }
  return -1;
}

std::string TaintPath(int at) { return "/spec/taints/" + std::to_string(at); }

// Takes away annotation and taint; nothing else of the node.
absl::StatusOr<Json> WithoutOurs(const Json& node, const std::string& tag) {
  if (AnnotationOf(node, kAnnotation) != tag) {
    return absl::FailedPreconditionError("the node no longer carries our annotation");
  }
  Json patch = SameObject(node);
  patch.push_back(Operation("test", kAnnotationPath, tag));
  patch.push_back({{"op", "remove"}, {"path", kAnnotationPath}});
  if (const int at = OurTaint(At(node, "spec")); at >= 0) {
    patch.push_back(Operation("test", TaintPath(at) + "/key", kTaint));
    patch.push_back({{"op", "remove"}, {"path", TaintPath(at)}});
  }
  return patch;
}

}  // namespace

bool IsWithheld(const Json& node) { return At(At(node, "spec"), "unschedulable") == true; }

std::string HolderOf(const Json& node) {
  return IsWithheld(node) ? AnnotationOf(node, kAnnotation) : "";
}

std::string NoteOf(const Json& node) {
  std::string note = IsWithheld(node) ? "unschedulable" : "";
  for (const Json& taint : At(At(node, "spec"), "taints")) {
    note.append(note.empty() ? "" : " ").append(TextAt(taint, "key")).append(":");
    note.append(TextAt(taint, "effect"));
  }
  return note;
}

absl::StatusOr<std::string> HoldPatch(std::string_view text, const NodeHold& hold) {
  const auto node = ParseObject(text);
  if (!node.ok()) return node.status();
  const Json& spec = At(*node, "spec");
  if (IsWithheld(*node)) {
    if (HolderOf(*node) == hold.tag) return absl::AlreadyExistsError(hold.node);
    return absl::FailedPreconditionError(hold.node + " is cordoned already: " + NoteOf(*node));
  }
  Json patch = SameObject(*node);
  const Json taint = {{"key", kTaint}, {"value", hold.cause}, {"effect", "NoSchedule"}};
  if (!At(At(*node, "metadata"), "annotations").is_object()) {
    patch.push_back(Operation("add", "/metadata/annotations", Json::object()));
  }
  patch.push_back(Operation("add", kAnnotationPath, hold.tag));
  patch.push_back(Operation("add", "/spec/unschedulable", true));
  if (const int at = OurTaint(spec); at >= 0) {
    patch.push_back(Operation("replace", TaintPath(at), taint));
  } else if (At(spec, "taints").is_array()) {
    patch.push_back(Operation("add", "/spec/taints/-", taint));
  } else {
    patch.push_back(Operation("add", "/spec/taints", Json::array({taint})));
  }
  return TextOf(patch);
}

absl::StatusOr<std::string> ReleasePatch(std::string_view text, const std::string& tag) {
  const auto node = ParseObject(text);
  if (!node.ok()) return node.status();
  auto patch = WithoutOurs(*node, tag);
  if (!patch.ok()) return patch.status();
  patch->push_back(Operation("add", "/spec/unschedulable", false));
  return TextOf(*patch);
}

absl::StatusOr<std::string> ForgetPatch(std::string_view text, const std::string& tag) {
  const auto node = ParseObject(text);
  if (!node.ok()) return node.status();
  const auto patch = WithoutOurs(*node, tag);
  return patch.ok() ? absl::StatusOr<std::string>(TextOf(*patch)) : patch.status();
}

}  // namespace fathom::kubernetes
