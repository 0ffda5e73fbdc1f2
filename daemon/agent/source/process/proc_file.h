// Reads small text files of /proc and /sys and the numbers in them.
//
// Used by the readers in this folder; the roots are given so that tests can make fake trees.
//
// Thread-safety: pure. Errors: NotFound where the file is not there (the process is gone), another
// code otherwise; numbers that are not there are nullopt.
// Cost: three system calls a file.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_PROCESS_PROC_FILE_H_
#define FATHOM_DAEMON_AGENT_SOURCE_PROCESS_PROC_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fathom::agent {

// Where the kernel's files lie.
struct KernelRoots {
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
  std::string sys = "/sys";
};

// At most 64 KiB of the file.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path);

// The number that a file of one line begins with.
std::optional<double> NumberIn(const std::string& path);

// The number after `key` and blanks or colon, at the beginning of a line.
std::optional<std::uint64_t> NumberAfter(std::string_view text, std::string_view key);

// What a line of /proc/stat says of a core, or of all.
struct CpuTicks {
  std::uint64_t spent = 0, all = 0;
};

// `numbers`: what stands behind the name: user nice system idle iowait irq softirq steal, and guest
// times, which are part of user and nice. What is no number counts as 0.
CpuTicks CpuTicksIn(std::string_view numbers);

// Of a file stat of a process or thread what stands behind its name: " S 1 …", where the state is
// the third field. A name may hold anything, a ')' too. Empty: there is none.
std::string_view AfterName(std::string_view stat);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_PROCESS_PROC_FILE_H_
