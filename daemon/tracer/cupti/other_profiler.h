// Whether somebody else profiles this process with CUPTI, and letting them in.
//
// Used by activity_window.cc. PyTorch's profiler (Kineto), Nsight and others subscribe to CUPTI or
// register buffers by name; both are hooked. CUPTI serves one at a time: whoever comes while a
// window is open gets it closed first, and no window opens in the process any more. Thread-safety:
// thread-safe. Errors: none. Cost: cold.
#ifndef FATHOM_DAEMON_TRACER_CUPTI_OTHER_PROFILER_H_
#define FATHOM_DAEMON_TRACER_CUPTI_OTHER_PROFILER_H_

namespace fathom::tracer {

bool OtherProfilerSeen();

// Gives up the subscription of a window that was closed and has not left CUPTI yet.
void LeaveCupti();

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CUPTI_OTHER_PROFILER_H_
