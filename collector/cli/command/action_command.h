// `fathom get actions`: what fathom-cordon has done and has been asked to do.
//
// Called by the verb `get`; the verb `action` itself is added through verb.h.
// Thread-safety: single-threaded. Result: an exit code; errors go to stderr.
#ifndef FATHOM_COLLECTOR_CLI_COMMAND_ACTION_COMMAND_H_
#define FATHOM_COLLECTOR_CLI_COMMAND_ACTION_COMMAND_H_

#include <string>

#include "collector/cli/http/access.h"

namespace fathom::cli {

// Requires: format is table, wide, json or yaml. `access`: what the command line names.
int GetActions(const std::string& cordon_http, const Access& access, const std::string& format);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_COMMAND_ACTION_COMMAND_H_
