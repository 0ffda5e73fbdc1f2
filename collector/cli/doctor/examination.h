// All checks of `fathom doctor`, in the order in which they are shown.
//
// Used by the verbs doctor and export. Thread-safety: single-threaded. Errors: none; what cannot be
// found out is a finding. Cost: starts the job's Python once; up to some seconds.
#ifndef FATHOM_COLLECTOR_CLI_DOCTOR_EXAMINATION_H_
#define FATHOM_COLLECTOR_CLI_DOCTOR_EXAMINATION_H_

#include <string>

#include "collector/cli/doctor/finding.h"
#include "collector/cli/http/collector_api.h"

namespace fathom::cli {

// That of VIRTUAL_ENV, or python3.
std::string DefaultPython();
Findings Examine(const CollectorApi& api, const std::string& python);
Json ToJson(const Findings& findings);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_DOCTOR_EXAMINATION_H_
