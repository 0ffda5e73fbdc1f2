#include "daemon/agent/source/process/process_facts.h"

#include <sched.h>
#include <unistd.h>

#include <charconv>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "daemon/agent/source/process/control_groups.h"

namespace fathom::agent {
namespace {

std::string PidPath(const KernelRoots& roots, std::uint32_t pid, absl::string_view file) {
  return absl::StrCat(roots.proc, "/", pid, "/", file);
}

void ReadThrottling(const std::string& folder, ProcessFacts& out) {
  const auto stat = ReadSmallFile(absl::StrCat(folder, "/cpu.stat"));
  const auto ns = stat.ok() ? ThrottledNsIn(*stat) : std::nullopt;
  if (ns) out.cgroup_throttled_us = static_cast<std::uint64_t>(*ns / 1000);
}

void ReadEvents(const std::string& folder, ProcessFacts& out) {
  out.cgroup = folder;
  if (const auto events = ReadSmallFile(absl::StrCat(folder, "/cgroup.events")); events.ok()) {
    out.frozen = NumberAfter(*events, "frozen").value_or(0) != 0;
  }
}

void ReadCgroup(const KernelRoots& roots, std::uint32_t pid, ProcessFacts& out) {
  for (const ControlGroup& group : ControlGroupsOf(roots, pid)) {
    ReadThrottling(group.folder(), out);
    if (group.unified) ReadEvents(group.folder(), out);
  }
}

void ReadThread(const std::string& task, ProcessFacts& out) {
  if (const auto sched = ReadSmallFile(absl::StrCat(task, "/schedstat")); sched.ok()) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(*sched, absl::ByAnyChar(" \n"), absl::SkipEmpty());
    if (parts.size() >= 2) {
      (void)absl::SimpleAtoi(parts[0], &out.training_thread_cpu_ns);
      (void)absl::SimpleAtoi(parts[1], &out.runqueue_wait_ns);
    }
  }
  if (const auto status = ReadSmallFile(absl::StrCat(task, "/status")); status.ok()) {
    out.voluntary_switches = NumberAfter(*status, "voluntary_ctxt_switches").value_or(0);
    out.involuntary_switches = NumberAfter(*status, "nonvoluntary_ctxt_switches").value_or(0);
  }
}

// Empty when it runs.
absl::StatusOr<std::string> WaitChannel(const std::string& task) {
  auto channel = ReadSmallFile(absl::StrCat(task, "/wchan"));
  if (channel.ok() && *channel == "0") channel->clear();
  return channel;
}

}  // namespace

std::uint64_t TicksToNs(std::uint64_t ticks) {
  static const auto kTicksPerSecond = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  return ticks * (1'000'000'000 / kTicksPerSecond);
}

std::uint64_t ReadIoBytes(const KernelRoots& roots, std::uint32_t pid) {
  const auto io = ReadSmallFile(PidPath(roots, pid, "io"));
  if (!io.ok()) return 0;
  std::uint64_t bytes = 0;
  // The first two grow when a call returns, the others page by page while a long one lasts.
  for (const char* key : {"rchar", "wchar", "read_bytes", "write_bytes"}) {
    bytes += NumberAfter(*io, key).value_or(0);
  }
  return bytes;
}

// Version 2 only: version 1 counts kills in files that need the memory controller's own tree.
std::uint64_t ReadOomKills(const std::string& cgroup) {
  if (cgroup.empty()) return 0;
  const auto memory = ReadSmallFile(absl::StrCat(cgroup, "/memory.events"));
  return memory.ok() ? NumberAfter(*memory, "oom_kill").value_or(0) : 0;
}

absl::StatusOr<StatLine> ParseStat(absl::string_view text) {
  const std::string_view behind = AfterName({text.data(), text.size()});
  if (behind.empty()) return absl::InvalidArgumentError("stat: no ')', or nothing behind it");
  const std::vector<absl::string_view> fields = absl::StrSplit(
      absl::string_view(behind.data(), behind.size()), absl::ByAnyChar(" \n"), absl::SkipEmpty());
  const auto number = [&fields](std::size_t field) {
    std::uint64_t value = 0;
    if (field - 3 < fields.size()) (void)absl::SimpleAtoi(fields[field - 3], &value);
    return value;
  };
  if (fields.size() < 22 || fields[0].size() != 1) {
    return absl::InvalidArgumentError("stat: too few fields");
  }
  StatLine line;
  line.state = fields[0][0];
  line.parent = static_cast<std::uint32_t>(number(4));
  line.minor_faults = number(10);
  line.major_faults = number(12);
  line.user_ticks = number(14);
  line.system_ticks = number(15);
  line.children_ticks = number(16) + number(17);
  line.start_time_ticks = number(22);
  line.rss_pages = number(24);
  if (!absl::SimpleAtoi(fields[19 - 3], &line.nice)) line.nice = 0;
  line.idle_policy = number(41) == SCHED_IDLE;
  if (fields.size() >= 50) line.exit_code = static_cast<int>(number(52));
  return line;
}

absl::StatusOr<StatLine> ReadStat(const KernelRoots& roots, std::uint32_t pid) {
  const auto text = ReadSmallFile(PidPath(roots, pid, "stat"));
  if (!text.ok()) return text.status();
  return ParseStat(*text);
}

ProcessLife ReadLife(const KernelRoots& roots, std::uint32_t pid, std::uint64_t start_time_ticks) {
  const auto line = ReadStat(roots, pid);
  if (!line.ok()) return {};
  if (start_time_ticks != 0 && line->start_time_ticks != start_time_ticks) return {};
  const bool dead = line->state == 'Z' || line->state == 'X';
  return {.alive = !dead, .state = line->state, .exit_code = dead ? line->exit_code : -1};
}

absl::StatusOr<ProcessFacts> ReadFacts(const KernelRoots& roots, std::uint32_t pid,
                                       std::uint32_t training_tid) {
  const auto line = ReadStat(roots, pid);
  if (!line.ok()) return line.status();
  ProcessFacts facts;
  facts.state = line->state;
  facts.cpu_ns = TicksToNs(line->user_ticks + line->system_ticks);
  facts.minor_faults = line->minor_faults;
  facts.major_faults = line->major_faults;
  static const auto kPageBytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  facts.rss_bytes = line->rss_pages * kPageBytes;
  ReadCgroup(roots, pid, facts);
  facts.io_bytes = ReadIoBytes(roots, pid);
  const std::string tasks = PidPath(roots, pid, "task/");
  ReadThread(absl::StrCat(tasks, training_tid), facts);
  facts.wait_channel = WaitChannel(absl::StrCat(tasks, training_tid)).value_or("");
  if (training_tid != pid && absl::StrContains(facts.wait_channel, "futex")) {
    facts.wait_channel = WaitChannel(absl::StrCat(tasks, pid)).value_or(facts.wait_channel);
  }
  return facts;
}

}  // namespace fathom::agent
