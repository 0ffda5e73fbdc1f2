#include "collector/cli/run/installation.h"

#include <initializer_list>
#include <system_error>

#ifndef FATHOM_LIBDIR
#define FATHOM_LIBDIR "lib"
#endif

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

fs::path FirstExisting(std::initializer_list<fs::path> candidates) {
  for (const fs::path& path : candidates) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) return path.lexically_normal();
  }
  return {};
}

}  // namespace

fs::path ThisExecutable() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

Installation FindInstallation(const fs::path& executable) {
  const fs::path here = executable.parent_path();
  const fs::path prefix = here.parent_path();
  Installation out;
  out.folder = here;
  out.agent = FirstExisting({here / "fathomd"});
  out.collector = FirstExisting({here / "fathom-collector"});
  out.fleet = FirstExisting({here / "fathom-fleet"});
  out.tracer = FirstExisting({here / "libfathom.so", prefix / FATHOM_LIBDIR / "libfathom.so",
                              prefix / "lib/libfathom.so"});
  out.site = FirstExisting({here / "fathom_site", prefix / "share/fathom/site"});
  return out;
}

}  // namespace fathom::cli
