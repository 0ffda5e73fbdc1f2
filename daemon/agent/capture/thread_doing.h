// What a thread does at this moment, by the system call it is in: runs, sleeps, waits for a lock,
// for data.
//
// Used by stack_recording a few dozen times a second. Model: the number of the call in
// /proc/PID/task/TID/syscall ("running" where it is in none), which takes the same leave as
// reading its stack. Looks that could not be made are left out.
//
// Thread-safety: pure. Errors: nullopt. Cost: three system calls.
#ifndef FATHOM_DAEMON_AGENT_CAPTURE_THREAD_DOING_H_
#define FATHOM_DAEMON_AGENT_CAPTURE_THREAD_DOING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

// "running", "sleep", "lock", "network", "file", "child", "other".
std::optional<std::string_view> DoingNow(const KernelRoots& roots, std::uint32_t pid,
                                         std::uint32_t thread);

// Of the text of that file.
std::optional<std::string_view> DoingOf(std::string_view syscall);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_CAPTURE_THREAD_DOING_H_
