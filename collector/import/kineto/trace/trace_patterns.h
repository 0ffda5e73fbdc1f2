// The patterns of functions, kernels and communication that a trace shows of its rank.
//
// Used by RankTraceBuilder, for who asks for them. docs/rules/patterns.md.
//
// Model: executions of four classes make the rank's critical path: kernels that compute, copies and
// sets, communication (kernels, and runs of Gloo), and calls of the training thread. Utilisation of
// communication is bytes a ns, of the rest it is not told.
//
// Units: ns since the trace's base. Thread-safety: pure. Errors: none.
// Cost: O(executions × log); 64 bytes each while it runs.
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_TRACE_PATTERNS_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_TRACE_PATTERNS_H_

#include <cstdint>
#include <vector>

#include "collector/import/kineto/trace/call_log.h"
#include "collector/import/kineto/trace/rank_trace.h"
#include "diagnosis/functions/patterns/pattern_table.h"

namespace fathom::collector::kineto {

// Requires: `trace.work` is that of the device.
std::vector<diagnosis::NamedPattern> PatternsOfTrace(const RankTrace& trace, const CallLog& calls,
                                                     std::int64_t thread, std::int64_t begin,
                                                     std::int64_t end);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_TRACE_PATTERNS_H_
