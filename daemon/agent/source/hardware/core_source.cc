#include "daemon/agent/source/hardware/core_source.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "daemon/agent/source/process/process_facts.h"

namespace fathom::agent {
namespace {

constexpr std::uint32_t kMostCores = 8192;

std::set<std::uint32_t> CoresOf(const KernelRoots& roots, std::uint32_t pid) {
  const auto text = ReadSmallFile(absl::StrCat(roots.proc, "/", pid, "/status"));
  if (!text.ok()) return {};
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    if (absl::ConsumePrefix(&line, "Cpus_allowed_list:")) {
      const absl::string_view list = absl::StripAsciiWhitespace(line);
      return CoresIn({list.data(), list.size()});
    }
  }
  return {};
}

}  // namespace

std::set<std::uint32_t> CoresIn(std::string_view list) {
  std::set<std::uint32_t> cores;
  for (const absl::string_view part :
       absl::StrSplit(absl::string_view(list.data(), list.size()), ',')) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(part, absl::MaxSplits('-', 1));
    std::uint32_t first = 0, last = 0;
    if (!absl::SimpleAtoi(ends.first, &first)) return {};
    last = first;
    if (!ends.second.empty() && !absl::SimpleAtoi(ends.second, &last)) return {};
    if (last < first || last >= kMostCores) return {};
    for (std::uint32_t core = first; core <= last; ++core) cores.insert(core);
  }
  return cores;
}

CoreSource::Cores CoreSource::ParseStat(std::string_view text) {
  Cores cores;
  for (absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    const std::size_t blank = line.find(' ');
    std::uint32_t number = 0;
    constexpr std::ptrdiff_t kNumbers = 8;
    if (std::count(line.begin(), line.end(), ' ') < kNumbers ||
        !absl::ConsumePrefix(&line, "cpu") ||
        !absl::SimpleAtoi(line.substr(0, blank - 3), &number)) {
      continue;
    }
    const absl::string_view rest = line.substr(blank - 3);
    cores[number] = CpuTicksIn({rest.data(), rest.size()});
  }
  return cores;
}

void CoreSource::SampleProcess(std::uint32_t pid, const Cores& now, std::vector<Reading>& out) {
  const auto line = ReadStat(roots_, pid);
  const std::set<std::uint32_t> allowed = CoresOf(roots_, pid);
  if (!line.ok() || allowed.empty()) return;
  const std::string device = absl::StrCat(pid);
  const auto put = [&](HardwareMetric metric, double value) {
    out.push_back({DeviceKind::kProcess, device, metric, value, ""});
  };
  put(HardwareMetric::kPriority, line->idle_policy ? kIdle : line->nice);
  std::uint64_t spent = 0, all = 0;
  std::size_t cores = 0;
  for (const auto& [number, core] : now) {
    const auto before = last_.find(number);
    if (!allowed.contains(number)) continue;
    ++cores;
    if (before == last_.end() || core.all < before->second.all) continue;
    spent += core.spent - std::min(core.spent, before->second.spent);
    all += core.all - before->second.all;
  }
  put(HardwareMetric::kAllowedCores, static_cast<double>(cores));
  const std::uint64_t own = line->user_ticks + line->system_ticks;
  const auto [known, fresh] = own_.try_emplace(pid, own);
  const std::uint64_t used = own - std::min(own, known->second);
  known->second = own;
  if (fresh || all == 0) return;
  put(HardwareMetric::kCoresTaken,
      static_cast<double>(spent - std::min(spent, used)) / static_cast<double>(all));
}

absl::Status CoreSource::Sample(CallInProgress& doing, std::vector<Reading>& out) {
  doing.Enter("reading /proc/stat and processes");
  const std::set<std::uint32_t> traced = traced_();
  std::erase_if(own_, [&](const auto& each) { return !traced.contains(each.first); });
  if (traced.empty()) return absl::OkStatus();
  const auto text = ReadSmallFile(roots_.proc + "/stat");
  if (!text.ok()) return absl::NotFoundError("/proc/stat cannot be read");
  Cores now = ParseStat(*text);
  std::size_t sampled = 0;
  for (const std::uint32_t pid : traced) {
    if (sampled++ < kMostProcesses) SampleProcess(pid, now, out);
  }
  last_ = std::move(now);
  return absl::OkStatus();
}

}  // namespace fathom::agent
