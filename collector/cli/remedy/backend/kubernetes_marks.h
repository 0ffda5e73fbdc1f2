// What a recovery writes on a job of Kubernetes so that it knows its own deeds again.
//
// Used by the two sources of KubernetesRemedy. Model: ID/WORD; of nobody else's recovery. Thread-
// safety: pure functions. Errors: none.
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_KUBERNETES_MARKS_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_KUBERNETES_MARKS_H_

#include <string>

#include "collector/cli/remedy/remedy_backend.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {

inline std::string MarkWord(const Remedy& remedy, const std::string& word) {
  return Cat(remedy.id, "/", word);
}
inline std::string IsolateMark(const Remedy& remedy) { return MarkWord(remedy, "isolate"); }
// Suspended for another restart.
inline std::string AgainMark(const Remedy& remedy) { return MarkWord(remedy, "again"); }
inline std::string RestartMark(const Remedy& remedy, int attempt) {
  return MarkWord(remedy, Cat("restart-", attempt));
}
// Whether we suspended the job that carries it. One that we resumed and that is suspended again was
// suspended by somebody else.
inline bool IsOurSuspension(const Remedy& remedy, const std::string& mark) {
  return mark == IsolateMark(remedy) || mark == AgainMark(remedy);
}
inline bool IsOurMark(const Remedy& remedy, const std::string& mark) {
  return mark.starts_with(MarkWord(remedy, ""));
}

inline std::string NodePath(const std::string& node) { return "/api/v1/nodes/" + node; }

// A refusal after something was changed: it is not so that nothing was.
inline absl::Status InPart(const std::string& what, const absl::Status& status) {
  return absl::UnknownError(Cat(what, ", but ", Message(status)));
}

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_KUBERNETES_MARKS_H_
