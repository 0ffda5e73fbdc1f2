// What bounds an iteration, from Report.step, as a person reads it.
//
// Used by `run` at its end and by `analyze`. Model: one paragraph, the sentence of the report and
// what it is the mean of; one more with what to try. A report that cannot tell says why in one.
// Thread-safety: pure functions. Errors: none; nothing of a report without the field.
#ifndef FATHOM_COLLECTOR_CLI_RENDER_STEP_LINES_H_
#define FATHOM_COLLECTOR_CLI_RENDER_STEP_LINES_H_

#include <string>
#include <vector>

#include "collector/cli/render/terminal.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

// Without line breaks, at most two.
std::vector<std::string> StepParagraphs(const Json& step);

// The same as a block of the screen of `analyze`; empty where nothing is told. `advice`: with what
// to try, which is for a job that has no culprit.
std::string StepBlock(const Json& step, bool advice, const Terminal& terminal);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RENDER_STEP_LINES_H_
