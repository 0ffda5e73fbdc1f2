// Writes plots to a folder, as NAME.svg.
//
// Used by `fathom simulate` and fathom-fleet. Thread-safety: thread-compatible. Errors: a file that
// cannot be written is told on stderr, once each.
#ifndef FATHOM_COLLECTOR_SIMULATE_PLOT_FILES_H_
#define FATHOM_COLLECTOR_SIMULATE_PLOT_FILES_H_

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace fathom::simulate {

// Made when it is missing.
inline std::function<void(const std::string&, const std::string&)> PlotsInto(
    const std::filesystem::path& folder) {
  return [folder](const std::string& name, const std::string& svg) {
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    const std::filesystem::path path = folder / (name + ".svg");
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << svg;
    file.close();
    if (!file) std::fprintf(stderr, "fathom: %s cannot be written\n", path.c_str());
  };
}

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_PLOT_FILES_H_
