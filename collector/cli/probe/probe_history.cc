#include "collector/cli/probe/probe_history.h"

#include <unistd.h>

#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "collector/cli/process/state_folder.h"
#include "collector/cli/text/text.h"
#include "collector/probe/probe_run.h"

namespace fathom::cli {
namespace fs = std::filesystem;

ProbeHistory ReadProbeHistory(const fs::path& file) {
  ProbeHistory history;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    v1::NodeProbe run;
    if (collector::ReadProbeRun(line, run).ok() && !run.results().empty()) {
      history.runs.push_back(std::move(run));
    } else {
      ++history.unreadable;
    }
  }
  return history;
}

absl::Status WriteProbeHistory(const fs::path& file, const ProbeHistory& history) {
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  const fs::path beside = Cat(file.string(), ".", static_cast<std::int64_t>(getpid()));
  {
    std::ofstream out(beside, std::ios::trunc);
    const std::size_t count = history.runs.size();
    const std::size_t first = count - std::min(count, ProbeHistory::kMostRuns);
    for (std::size_t i = first; i < count; ++i)
      out << collector::ProbeRunJson(history.runs[i]) << '\n';
    out.flush();
    if (!out) failed = std::make_error_code(std::errc::io_error);
  }
  if (!failed) fs::rename(beside, file, failed);
  if (!failed) return absl::OkStatus();
  std::error_code ignored;
  fs::remove(beside, ignored);
  return absl::UnavailableError(Cat(file.string(), " cannot be written: ", failed.message()));
}

fs::path DefaultProbeHistory() { return StateFolder() / "probes.jsonl"; }

}  // namespace fathom::cli
