// Why may the stack of this process not be read, and what would allow it?
//
// Used by stack_reader where the kernel refused; the answer stands in the verdict's evidence.
//
// Model: reading another process's memory or registers needs leave to trace it
// (PTRACE_MODE_ATTACH). The kernel says only "not permitted"; which of its rules stands in the way
// is told from files:
//   yama ptrace_scope 3           nobody, until the next boot
//   CAP_SYS_PTRACE is there       a seccomp filter, or the process's user namespace is not below
//   ours another user                  needs CAP_SYS_PTRACE, or the agent as that user yama
//   ptrace_scope 1, 2        only descendants, or only with CAP_SYS_PTRACE none of these a seccomp
//   filter, or a process that is not dumpable
//
// Thread-safety: pure. Errors: what cannot be read is taken as not in the way. Cost: three files.
// Source: ptrace(2), Documentation/admin-guide/LSM/Yama.rst.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_STACK_PTRACE_PERMISSION_H_
#define FATHOM_DAEMON_AGENT_SOURCE_STACK_PTRACE_PERMISSION_H_

#include <cstdint>
#include <string>

#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

// "not permitted: kernel.yama.ptrace_scope is 1 …; set it to 0, or give the agent CAP_SYS_PTRACE".
std::string ExplainRefusal(const KernelRoots& roots, std::uint32_t pid);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_STACK_PTRACE_PERMISSION_H_
