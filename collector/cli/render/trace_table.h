// What came of an order to switch sources, and stacks of ranks, as text.
//
// Used by the verb `trace`. Thread-safety: pure. Errors: fields that are missing are blank.
#ifndef FATHOM_COLLECTOR_CLI_RENDER_TRACE_TABLE_H_
#define FATHOM_COLLECTOR_CLI_RENDER_TRACE_TABLE_H_

#include <string>

#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

// `trace`: what /api/v1/jobs/JOB/trace answers.
std::string TraceTable(const Json& trace);
// `stacks`: what /api/v1/jobs/JOB/stacks answers. Ranks with equal stacks are told once.
std::string StacksText(const Json& stacks);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RENDER_TRACE_TABLE_H_
