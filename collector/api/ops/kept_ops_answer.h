// What several collectors keep of a job's ops as one answer, and what that lacks.
//
// Used by PeerApi for /api/v1/ops/JOB. Model: the parts of all that answer, one behind the other.
// Beside them `lacks`: what a collector has told the history that it keeps, and that is not there:
// all of it where the collector does not answer, what is before its oldest segment where it does
// (it was let go of, or its disk is gone). Both are cut to the stretch that is asked for.
//
// Units: wall ns. Pure functions. Errors: a list that is none is left out; where the history does
// not answer, `lacks` says so. Cost: O(parts + stretches).
#ifndef FATHOM_COLLECTOR_API_OPS_KEPT_OPS_ANSWER_H_
#define FATHOM_COLLECTOR_API_OPS_KEPT_OPS_ANSWER_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "collector/api/ops/ops_api.h"
#include "collector/store/kept_ops.h"

namespace fathom::collector {

// `lists`: bodies of OpsApi, the first of them our own.
std::string JoinedKeptOps(const std::vector<std::string>& lists,
                          const absl::StatusOr<std::vector<KeptOps>>& told,
                          const OpsStretch& stretch);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_OPS_KEPT_OPS_ANSWER_H_
