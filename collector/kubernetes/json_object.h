// Reads objects of a Kubernetes API server and writes JSON patches of them (RFC 6902).
//
// Used in collector/kubernetes, by fathom-cordon's back-end and by that of `fathom recover`. What
// is missing, or of another kind, reads as null and empty. Every patch begins with SameObject: it
// fits the object as it was read, or not at all.
//
// Thread-safety: pure functions. Errors: FailedPrecondition for an answer that is no object. Cost:
// O(characters).
#ifndef FATHOM_COLLECTOR_KUBERNETES_JSON_OBJECT_H_
#define FATHOM_COLLECTOR_KUBERNETES_JSON_OBJECT_H_

#include <absl/status/statusor.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace fathom::kubernetes {

using Json = nlohmann::json;

absl::StatusOr<Json> ParseObject(std::string_view text);
const Json& At(const Json& object, const char* name);
std::string TextAt(const Json& object, const char* name);
std::string AnnotationOf(const Json& object, const char* name);
// Whether the condition of that type is "True".
bool HasCondition(const Json& object, const char* type);

Json SameObject(const Json& object);
Json Operation(const char* op, const std::string& path, Json value);
// Never throws: what is no UTF-8 is replaced.
std::string TextOf(const Json& json);

}  // namespace fathom::kubernetes

#endif  // FATHOM_COLLECTOR_KUBERNETES_JSON_OBJECT_H_
