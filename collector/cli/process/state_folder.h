// Where the command line keeps what outlives it: records of probes and of recoveries.
//
// Used by probe/probe_history and remedy/recovery_journal. Root's is /var/lib/fathom, a user's
// `fathom` in XDG_STATE_HOME, else in ~/.local/state. Thread-safety: reads the environment.
// Errors: none; the folder may not be there.
#ifndef FATHOM_COLLECTOR_CLI_PROCESS_STATE_FOLDER_H_
#define FATHOM_COLLECTOR_CLI_PROCESS_STATE_FOLDER_H_

#include <filesystem>

namespace fathom::cli {

std::filesystem::path StateFolder();

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_PROCESS_STATE_FOLDER_H_
