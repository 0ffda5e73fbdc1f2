// What /proc tells of one traced process: whether it lives, what it does, what it has used.
//
// Called by the agent once a second for each rank, and at each directory scan for life alone.
//
// Model: a process is named by pid and start time (field 22 of stat); a pid with another start time
// is somebody else. A zombie is dead: its exit code (field 52) tells a kill from an exit, where the
// kernel lets us see it. The training thread is the one that called the last op; where that one
// waits on a futex (as a thread of autograd does between two steps) the main thread tells what the
// process waits for.
//
// Units: ns, cumulative since the process started. Clock ticks are turned into ns (10 ms steps).
// Thread-safety: thread-compatible. Errors: a fact that cannot be read is 0 or empty.
// Cost: about nine small files, 80 to 130 µs a process; ReadLife one file, 15 µs.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_PROCESS_PROCESS_FACTS_H_
#define FATHOM_DAEMON_AGENT_SOURCE_PROCESS_PROCESS_FACTS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

struct ProcessLife {
  bool alive = false;
  char state = '?';    // R S D T t Z X I
  int exit_code = -1;  // wait status of a zombie; -1 not known
};

struct ProcessFacts {
  char state = '?';
  std::uint64_t cpu_ns = 0;
  std::uint64_t runqueue_wait_ns = 0;        // training thread
  std::uint64_t training_thread_cpu_ns = 0;  // training thread
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t cgroup_throttled_us = 0;
  std::uint64_t rss_bytes = 0;
  std::uint64_t io_bytes = 0;  // a measure of reading and writing that only grows: bytes of calls
                               // and bytes of storage, added; 0 if not readable
  std::string cgroup;          // folder of its cgroup, version 2; empty: there is none
  bool frozen = false;         // its cgroup is frozen
  // Of the training thread, or of the main one while that waits on a futex; empty when it runs or
  // may not be seen.
  std::string wait_channel;
};

// Fields of /proc/PID/stat that are used here.
struct StatLine {
  char state = '?';
  std::uint32_t parent = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t children_ticks = 0;  // of children that ended and were waited for, and of theirs
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  std::uint64_t start_time_ticks = 0;
  std::uint64_t rss_pages = 0;
  int nice = 0;
  bool idle_policy = false;  // SCHED_IDLE: it runs where nobody else wants to
  int exit_code = -1;
};

// The name of a command may hold blanks and parentheses; the last ')' ends it.
absl::StatusOr<StatLine> ParseStat(absl::string_view text);
absl::StatusOr<StatLine> ReadStat(const KernelRoots& roots, std::uint32_t pid);

std::uint64_t TicksToNs(std::uint64_t ticks);

// As ProcessFacts::io_bytes.
std::uint64_t ReadIoBytes(const KernelRoots& roots, std::uint32_t pid);

// Processes that were killed for want of memory in the cgroup with this folder, ever; 0: not told.
std::uint64_t ReadOomKills(const std::string& cgroup);

// start_time_ticks 0 = any.
ProcessLife ReadLife(const KernelRoots& roots, std::uint32_t pid, std::uint64_t start_time_ticks);

// NotFound if the process is gone.
absl::StatusOr<ProcessFacts> ReadFacts(const KernelRoots& roots, std::uint32_t pid,
                                       std::uint32_t training_tid);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_PROCESS_PROCESS_FACTS_H_
