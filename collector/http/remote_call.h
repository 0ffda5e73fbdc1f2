// What the answer of somebody else's server means for a change that was asked for, and the token
// that goes with a call.
//
// Used by the back-ends of fathom-cordon and by collector/kubernetes. Model: the status tells
// whether anything can have been changed: after Unavailable it is not known, after all others
// nothing was.
//
// Thread-safety: pure functions; AddBearer reads a file. Errors: see below. Cost: O(text).
#ifndef FATHOM_COLLECTOR_HTTP_REMOTE_CALL_H_
#define FATHOM_COLLECTOR_HTTP_REMOTE_CALL_H_

#include <absl/status/status.h>

#include <string>
#include <vector>

namespace fathom::collector {

// FailedPrecondition (400, 422), Unauthenticated (401), PermissionDenied (403), NotFound (404),
// Aborted (409), OutOfRange (410), ResourceExhausted (429), else Unavailable.
absl::Status StatusOfHttp(int status, const std::string& text);

// "Authorization: Bearer …" from the first line of a file; nothing where none is named. Errors:
// FailedPrecondition.
absl::Status AddBearer(const std::string& token_file, std::vector<std::string>& headers);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_HTTP_REMOTE_CALL_H_
