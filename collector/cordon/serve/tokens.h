// Who may change something: static tokens of people, each with a name and a role.
//
// Used by the API. A file of lines "NAME viewer|operator TOKEN"; '#' begins a comment. The file
// must not be readable by everybody. Read at every mutating request, so that a token taken out of
// it is void at once. Thread-safety: thread-safe (reads a file). Errors: FailedPrecondition (no
// file), PermissionDenied.
#ifndef FATHOM_COLLECTOR_CORDON_SERVE_TOKENS_H_
#define FATHOM_COLLECTOR_CORDON_SERVE_TOKENS_H_

#include <absl/status/statusor.h>

#include <string>

namespace fathom::cordon {

// The name of the operator whose token it is. Unauthenticated: nobody's; PermissionDenied: a
// viewer's.
absl::StatusOr<std::string> OperatorOf(const std::string& file, const std::string& token);

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_SERVE_TOKENS_H_
