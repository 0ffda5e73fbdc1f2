#include "collector/cli/command/version_command.h"

#include <cstdio>

#include "collector/cli/command/verb.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"
#include "daemon/service/build_commit.h"

namespace fathom::cli {

std::string VersionText() { return Cat("fathom " FATHOM_VERSION " (", service::kBuildCommit, ")"); }

void AddVersionVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb = root.add_subcommand("version", "Print the version");
  verb->footer("Examples:\n  fathom version");
  verb->callback([invocation] {
    invocation->action = [] {
      std::puts(VersionText().c_str());
      return kNothingFound;
    };
  });
}

}  // namespace fathom::cli
