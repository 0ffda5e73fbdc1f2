// `fathom version`.
#include <cstdio>

#include "collector/cli/exit_code.h"
#include "collector/cli/verb.h"
#include "daemon/service/build_commit.h"

namespace fathom::cli {

void AddVersionVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb = root.add_subcommand("version", "Print the version");
  verb->footer("Examples:\n  fathom version");
  verb->callback([invocation] {
    invocation->action = [] {
      std::printf("fathom " FATHOM_VERSION " (%s)\n", service::kBuildCommit);
      return kNothingFound;
    };
  });
}

}  // namespace fathom::cli
