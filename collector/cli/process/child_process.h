// Starting processes: the user's command, untouched, and our own companions, kept on a lead.
//
// Used by TracedRun and Companion. Thread-safety: single-threaded. Ownership: the caller reaps.
// Errors: an exec that fails is known at once, by its errno; nothing is left behind then.
#ifndef FATHOM_COLLECTOR_CLI_PROCESS_CHILD_PROCESS_H_
#define FATHOM_COLLECTOR_CLI_PROCESS_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "collector/cli/process/signal_gate.h"
#include "collector/cli/process/trace_environment.h"

namespace fathom::cli {

struct Spawned {
  pid_t pid = -1;
  int error = 0;  // errno of fork or exec; 0 when it runs
};

// With our descriptors, process group, mask and dispositions as inherited.
Spawned SpawnCommand(const std::vector<std::string>& argv, const Environment& environment,
                     const SignalGate& gate);

// In a process group of its own, killed when we die, stdin empty, no descriptor of ours but these.
Spawned SpawnCompanion(const std::vector<std::string>& argv, const Environment& environment,
                       const SignalGate& gate, int stdout_fd, int stderr_fd);

// errno with which running `name` would fail before anything is started; 0 when it may run.
int LookUpCommand(const std::string& name);

// What a shell returns for it: 127 not found, 126 found but not to be run.
int ExitCodeOfExecError(const std::string& name, int error);

// The exit code a shell would show for a wait status: 128 + S for signal S.
int ExitCodeOfStatus(int wait_status);

// "exit code 3", "killed by signal 9 (Killed)".
std::string DescribeStatus(int wait_status);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_PROCESS_CHILD_PROCESS_H_
