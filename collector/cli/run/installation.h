// Where the other parts of fathom lie: the agent, the collector, the tracer and its Python hook.
//
// Used by `fathom run`, `fathom doctor`, `fathom simulate` and `fathom export bundle`.
// Model: two layouts are known, tried in this order from the folder of the running executable:
//   built      DIR/{fathom,fathomd,fathom-collector,fathom-fleet,libfathom.so,fathom_site/}
//   installed  PREFIX/bin/…, PREFIX/lib[/…]/libfathom.so, PREFIX/share/fathom/site/
// Thread-safety: plain value. Errors: a part that is not there is an empty path.
#ifndef FATHOM_COLLECTOR_CLI_RUN_INSTALLATION_H_
#define FATHOM_COLLECTOR_CLI_RUN_INSTALLATION_H_

#include <filesystem>

namespace fathom::cli {

struct Installation {
  std::filesystem::path folder;  // of the executable
  std::filesystem::path agent;
  std::filesystem::path collector;
  std::filesystem::path fleet;   // plays simulated agents
  std::filesystem::path tracer;  // libfathom.so
  std::filesystem::path site;    // folder with the Python start-up hook
};

Installation FindInstallation(const std::filesystem::path& executable);

// The running executable, links resolved; empty when /proc is not there.
std::filesystem::path ThisExecutable();

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RUN_INSTALLATION_H_
