// What of a verdict in JSON others ask before they read the whole of it: whether it stands, and how
// strong it is.
//
// Used by the command line and by recovery/. Thread-safety: pure functions. Errors: none.
#ifndef FATHOM_COLLECTOR_CLI_TEXT_VERDICT_FIELDS_H_
#define FATHOM_COLLECTOR_CLI_TEXT_VERDICT_FIELDS_H_

#include <string>

#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

// Whether it is neither over nor closed.
bool IsOpen(const Json& verdict);

// established 3, supported 2, hypothesis 1, anything else 0.
int GradeStrength(const std::string& grade);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_TEXT_VERDICT_FIELDS_H_
