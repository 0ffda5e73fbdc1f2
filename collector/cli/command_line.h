// From argv to an exit code: splits off the command behind `--`, finds the verb, runs it.
//
// Called by main only. Thread-safety: single-threaded. Errors: one line on stderr, exit code 1.
#ifndef FATHOM_COLLECTOR_CLI_COMMAND_LINE_H_
#define FATHOM_COLLECTOR_CLI_COMMAND_LINE_H_

#include <string>
#include <vector>

namespace fathom::cli {

// Requires: `arguments` without the program's name.
int RunCommandLine(std::vector<std::string> arguments);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_COMMAND_LINE_H_
