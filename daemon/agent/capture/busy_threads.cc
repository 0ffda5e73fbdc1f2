#include "daemon/agent/capture/busy_threads.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace fathom::agent {

BusyThreads::BusyThreads(const KernelRoots& roots, std::uint32_t pid)
    : folder_(absl::StrCat(roots.proc, "/", pid, "/task")), before_(CpuNs()) {}

std::map<std::uint32_t, std::int64_t> BusyThreads::CpuNs() const {
  std::map<std::uint32_t, std::int64_t> out;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder_, error), end;
       !error && at != end && out.size() < kMostThreads; at.increment(error)) {
    const auto text = ReadSmallFile(at->path().string() + "/schedstat");
    std::uint32_t thread = 0;
    std::int64_t cpu_ns = 0;
    if (!text.ok() || !absl::SimpleAtoi(at->path().filename().string(), &thread)) continue;
    if (absl::SimpleAtoi(text->substr(0, text->find(' ')), &cpu_ns)) out[thread] = cpu_ns;
  }
  return out;
}

std::set<std::uint32_t> BusyThreads::Take(std::uint32_t training) const {
  const std::chrono::duration<double, std::nano> lasted = std::chrono::steady_clock::now() - began_;
  std::set<std::uint32_t> out;
  for (const auto& [thread, cpu_ns] : CpuNs()) {
    const auto at = before_.find(thread);
    const std::int64_t used = cpu_ns - (at == before_.end() ? 0 : at->second);
    if (thread != training && static_cast<double>(used) >= kBusy * lasted.count()) {
      out.insert(thread);
    }
  }
  return out;
}

}  // namespace fathom::agent
