// A capture of stacks as text: which rank spends its time where its peers do not, and what was
// looked at.
//
// Used by the verb `profile`. Thread-safety: pure. Errors: fields that are missing are blank.
#ifndef FATHOM_COLLECTOR_CLI_CAPTURE_CAPTURE_TABLE_H_
#define FATHOM_COLLECTOR_CLI_CAPTURE_CAPTURE_TABLE_H_

#include <cstddef>
#include <string>

#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

// `capture`: what /api/v1/jobs/JOB/capture answers; `places`: how many of the rank that stands out.
std::string CaptureTable(const Json& capture, std::size_t places);

// "write_metrics (train.py:85)" of an object with function, file, line.
std::string PlaceName(const Json& place);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_CAPTURE_CAPTURE_TABLE_H_
