#include "collector/cli/probe/traced_processes.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>

#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

// "PID-GENERATION.ring".
std::int64_t ProcessOf(const std::string& name) {
  std::int64_t pid = 0;
  const std::size_t dash = name.find('-');
  const bool ring = name.size() > 5 && std::string_view(name).substr(name.size() - 5) == ".ring";
  return ring && ReadNumber(std::string_view(name).substr(0, dash), &pid) && pid > 0 ? pid : 0;
}

void AddFrom(const fs::path& folder, std::vector<std::int64_t>& pids) {
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const std::int64_t pid = ProcessOf(at->path().filename().string());
    std::error_code gone;
    if (pid > 0 && fs::exists(fs::path("/proc") / std::to_string(pid), gone)) pids.push_back(pid);
  }
}

}  // namespace

std::vector<std::int64_t> TracedProcesses(const fs::path& node, const fs::path& memory) {
  std::vector<std::int64_t> pids;
  AddFrom(node, pids);
  std::error_code failed;
  for (fs::directory_iterator at(memory, failed), end; !failed && at != end; at.increment(failed)) {
    if (at->path().filename().string().rfind("fathom-run-", 0) == 0) {
      AddFrom(at->path() / "rings", pids);
    }
  }
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

}  // namespace fathom::cli
