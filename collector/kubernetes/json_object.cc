#include "collector/kubernetes/json_object.h"

namespace fathom::kubernetes {

const Json& At(const Json& object, const char* name) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto at = object.find(name);
  return at == object.end() ? none : *at;
}

std::string TextAt(const Json& object, const char* name) {
  const Json& value = At(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

std::string AnnotationOf(const Json& object, const char* name) {
  return TextAt(At(At(object, "metadata"), "annotations"), name);
}

bool HasCondition(const Json& object, const char* type) {
  for (const Json& condition : At(At(object, "status"), "conditions")) {
    if (TextAt(condition, "type") == type) return TextAt(condition, "status") == "True";
  }
  return false;
}

absl::StatusOr<Json> ParseObject(std::string_view text) {
  Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (TextAt(At(object, "metadata"), "resourceVersion").empty()) {
    return absl::FailedPreconditionError("the answer is no object of the API");
  }
  return object;
}

Json Operation(const char* op, const std::string& path, Json value) {
  return {{"op", op}, {"path", path}, {"value", std::move(value)}};
}

Json SameObject(const Json& object) {
  Json patch = Json::array();
  const Json& metadata = At(object, "metadata");
  patch.push_back(
      Operation("test", "/metadata/resourceVersion", TextAt(metadata, "resourceVersion")));
  patch.push_back(Operation("test", "/metadata/uid", TextAt(metadata, "uid")));
  return patch;
}

std::string TextOf(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace fathom::kubernetes
