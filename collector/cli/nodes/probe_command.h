// The verb `probe`, added to the command line as verb.h describes.
//
// Used by command_line. Thread-safety: single-threaded.
#ifndef FATHOM_COLLECTOR_CLI_NODES_PROBE_COMMAND_H_
#define FATHOM_COLLECTOR_CLI_NODES_PROBE_COMMAND_H_

#include "collector/cli/command/verb.h"

namespace fathom::cli {

void AddProbeVerb(CLI::App& root, Invocation* invocation);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_NODES_PROBE_COMMAND_H_
