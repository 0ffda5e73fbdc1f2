// How a victim proves that what it runs neither allocates nor enters the kernel.
//
// Linked into the victims of tests/daemon/tracer. It replaces malloc, calloc and realloc of the
// whole process, the tracer's calls included.
#ifndef FATHOM_TESTS_DAEMON_TRACER_QUIET_PROCESS_H_
#define FATHOM_TESTS_DAEMON_TRACER_QUIET_PROCESS_H_

namespace fathom::tracer_test {

// Allocations of the process so far.
unsigned long Allocations();

// From here on any system call but write and exit_group kills the process with SIGSYS. False if the
// kernel does not allow that.
bool ForbidSystemCalls();

}  // namespace fathom::tracer_test

#endif  // FATHOM_TESTS_DAEMON_TRACER_QUIET_PROCESS_H_
