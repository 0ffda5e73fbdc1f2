// `fathom version`.
#include <cstdio>

#include "collector/cli/exit_code.h"
#include "collector/cli/verb.h"

namespace fathom::cli {

void AddVersionVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb = root.add_subcommand("version", "Print the version");
  verb->footer("Examples:\n  fathom version");
  verb->callback([invocation] {
    invocation->action = [] {
      std::puts("fathom " FATHOM_VERSION);
      return kNothingFound;
    };
  });
}

}  // namespace fathom::cli
