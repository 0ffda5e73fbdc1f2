// What `fathom version`, `fathom --version` and a support bundle say of this build.
//
// The verb itself is added through verb.h. Thread-safety: pure. Errors: none.
#ifndef FATHOM_COLLECTOR_CLI_COMMAND_VERSION_COMMAND_H_
#define FATHOM_COLLECTOR_CLI_COMMAND_VERSION_COMMAND_H_

#include <string>

namespace fathom::cli {

// "fathom 1.2.3 (0123456789ab)": version and commit.
std::string VersionText();

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_COMMAND_VERSION_COMMAND_H_
