// Where programs put the experiments: tables on stdout and into a page, plots in a folder as
// NAME.svg.
//
// Used by `fathom simulate` and fathom-fleet. Thread-safety: thread-compatible. Errors: a file that
// cannot be written is told on stderr, once each. A page that cannot be read, or is none, is left
// as it is: nothing that somebody else wrote is lost.
#ifndef FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_PLOT_FILES_H_
#define FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_PLOT_FILES_H_

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "collector/simulate/experiment/cpu_time.h"
#include "collector/simulate/experiment/experiment.h"

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

// The page as it stands; empty where there is no file, or nothing in it. Errors: kUnavailable: it
// cannot be read; kFailedPrecondition: it is something else.
inline absl::StatusOr<std::string> ReadPage(const std::filesystem::path& path) {
  const auto named = [&](const char* what) { return absl::StrCat("'", path.string(), "' ", what); };
  std::error_code unknown;
  const bool there = std::filesystem::exists(path, unknown);
  if (!there && !unknown) return "";
  std::ifstream file(path, std::ios::binary);
  std::string page;
  char buffer[1 << 16];
  while (file.read(buffer, sizeof buffer), file.gcount() > 0)
    page.append(buffer, static_cast<std::size_t>(file.gcount()));
  if (!file.eof() || file.bad()) return absl::UnavailableError(named("cannot be read"));
  if (page.empty() || IsPage(page)) return page;
  return absl::FailedPreconditionError(named("is not a page of experiments; it is left as it is"));
}

// Renews one section after the other in the page; a reader always finds a whole one.
inline std::function<void(const std::string&, const std::string&)> SectionsInto(
    const std::filesystem::path& path) {
  return [path](const std::string& title, const std::string& section) {
    const absl::StatusOr<std::string> page = ReadPage(path);
    if (!page.ok()) {
      std::fprintf(stderr, "fathom: %s\n", std::string(page.status().message()).c_str());
      return;
    }
    const std::filesystem::path fresh = path.string() + ".new";
    std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
    file << PageWith(*page, title, section);
    file.close();
    std::error_code error;
    if (file) std::filesystem::rename(fresh, path, error);
    if (!file || error) std::fprintf(stderr, "fathom: %s cannot be written\n", path.c_str());
  };
}

// `seed` 0: the usual one. `folder`: of the plots; empty: none are made.
inline ExperimentOptions ExperimentOnStdout(std::uint64_t seed, const std::string& folder) {
  ExperimentOptions options;
  if (seed != 0) options.seed = seed;
  options.now = CpuSeconds;
  options.print = [](const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  };
  if (!folder.empty()) options.plot = PlotsInto(folder);
  return options;
}

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_PLOT_FILES_H_
