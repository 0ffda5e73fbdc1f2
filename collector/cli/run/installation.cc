#include "collector/cli/run/installation.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>

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

// Only a place that holds this very library is named: the loader of another distribution would find
// something else there, or nothing.
fs::path PreloadPath(const fs::path& tracer, const fs::path& loader_folder) {
  if (tracer.empty() || loader_folder.empty()) return tracer;
  const fs::path places = tracer.parent_path() / "libfathom";
  std::error_code ignored;
  const bool there = fs::equivalent(places / loader_folder / "libfathom.so", tracer, ignored);
  return there ? places / "$LIB/libfathom.so" : tracer;
}

}  // namespace

fs::path LoaderFolder() {
  Dl_info found{};
  if (dladdr(reinterpret_cast<const void*>(&gnu_get_libc_version), &found) == 0) return {};
  std::error_code failed;
  const fs::path libc = fs::canonical(found.dli_fname, failed);
  const fs::path folder = libc.parent_path().relative_path();
  if (failed || folder.empty()) return {};
  return *folder.begin() == "usr" ? folder.lexically_relative("usr") : folder;
}

fs::path ThisExecutable() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

Installation FindInstallation(const fs::path& executable, const fs::path& loader_folder) {
  const fs::path here = executable.parent_path();
  const fs::path prefix = here.parent_path();
  Installation out;
  out.folder = here;
  out.agent = FirstExisting({here / "fathomd"});
  out.collector = FirstExisting({here / "fathom-collector"});
  out.fleet = FirstExisting({here / "fathom-fleet"});
  out.tracer = FirstExisting({here / "libfathom.so", prefix / FATHOM_LIBDIR / "libfathom.so",
                              prefix / "lib/libfathom.so"});
  out.preload = PreloadPath(out.tracer, loader_folder);
  out.site = FirstExisting({here / "fathom_site", prefix / "share/fathom/site"});
  return out;
}

Installation ThisInstallation() { return FindInstallation(ThisExecutable(), LoaderFolder()); }

}  // namespace fathom::cli
