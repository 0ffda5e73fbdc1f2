// What this process has used: processor time of all its threads, and memory of its own.
//
// Used by the plans of agent and collector. Thread-safety: thread-safe. Errors: 0 where the kernel
// does not tell. Cost: a system call, and reading one small file.
#ifndef FATHOM_DAEMON_SERVICE_BUDGET_PROCESS_USE_H_
#define FATHOM_DAEMON_SERVICE_BUDGET_PROCESS_USE_H_

#include <string>

namespace fathom::service {

double ProcessCpuSeconds();

// What it shares with nobody. `proc`: where procfs is.
double PrivateBytes(const std::string& proc = "/proc");

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_BUDGET_PROCESS_USE_H_
