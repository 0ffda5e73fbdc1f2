// Where the other parts of fathom lie: the agent, the collector, the tracer and its Python hook.
//
// Used by `fathom run`, `fathom doctor`, `fathom simulate` and `fathom export bundle`.
// Model: two layouts are known, tried in this order from the folder of the running executable:
//   built: DIR/{fathom,fathomd,fathom-collector,fathom-fleet,libfathom.so,libfathom/,fathom_site/}
//   installed: PREFIX/bin/…, PREFIX/lib[/…]/libfathom.so, …/libfathom/, PREFIX/share/fathom/site/
// libfathom/ has a place for each folder that a loader may put for $LIB (daemon/tracer/preload). It
// is used where this machine's 64-bit loader finds the tracer in it; where its $LIB is `lib` (Arch,
// Nix) it does not, and LD_PRELOAD names the library itself.
//
// Thread-safety: plain value. Errors: a part that is not there is an empty path.
#ifndef FATHOM_COLLECTOR_CLI_RUN_INSTALLATION_H_
#define FATHOM_COLLECTOR_CLI_RUN_INSTALLATION_H_

#include <filesystem>

namespace fathom::cli {

struct Installation {
  std::filesystem::path folder;  // of the executable
  std::filesystem::path agent;
  std::filesystem::path collector;
  std::filesystem::path fleet;    // plays simulated agents
  std::filesystem::path tracer;   // libfathom.so
  std::filesystem::path preload;  // what LD_PRELOAD is to name, with $LIB where that works
  std::filesystem::path site;     // folder with the Python start-up hook
};

// `loader_folder` as LoaderFolder() gives it.
Installation FindInstallation(const std::filesystem::path& executable,
                              const std::filesystem::path& loader_folder);

// What this process's loader puts for $LIB, by where it found the C library: "lib64",
// "lib/x86_64-linux-gnu". Empty when that cannot be told.
std::filesystem::path LoaderFolder();

// That of the running executable.
Installation ThisInstallation();

// The running executable, links resolved; empty when /proc is not there.
std::filesystem::path ThisExecutable();

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RUN_INSTALLATION_H_
