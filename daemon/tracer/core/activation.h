// Turns the tracer on: settings, identity, region; once in the life of a process image.
//
// Called where the job makes a process group, or asks Python for one, or where an optimizer of a
// process on its own has made its first step; nothing happens before that,
// so that `ls` or `python -c pass` under the preload leaves no trace. Thread-safety: thread-safe;
// one thread activates, others that come meanwhile wait for it (it is about 1 ms). Errors: off for
// good, silently: no folder, no space, bad folder, FATHOM_DISABLE, a CPU's counter that may not be
// read. Cost: cold path; system calls, no heap. errno is preserved.
#ifndef FATHOM_DAEMON_TRACER_CORE_ACTIVATION_H_
#define FATHOM_DAEMON_TRACER_CORE_ACTIVATION_H_

#include "daemon/tracer/core/tracer_state.h"

namespace fathom::tracer {

// The state if the tracer is on, after trying to turn it on; else null.
TracerState* Activate();

// The control block of the region this process inherited from its parent by a fork, else null.
abi::ControlBlock* InheritedControl();

// Tells the agent of the orderly end of the process, and takes the region's file away if no agent
// has ever looked at it, or none for an hour: one that is away for less reads the rest when it is
// back. Hooks may still come afterwards.
void Deactivate();

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_ACTIVATION_H_
