// Lets exceptions of the real function pass through a shim untouched, and still ends its frame.
//
// Used by the shims that put a Frame on the stack (core/thread_state.h).
//
// Model: the tracer has no exceptions and no landing pads; its functions only carry unwind tables.
// A shim that holds a frame names UnwindPersonality as the personality of its stack frame: the
// unwinder calls it while it takes the stack down (also on forced unwinding of a cancelled thread),
// it ends the thread's innermost tracer frame (FailFrame), and unwinding goes on. No code of ours
// is resumed, so neither libstdc++ nor libgcc_s is needed.
// Requires: each such function holds exactly one frame for the whole of the real call.
// Source: Itanium C++ ABI, Exception Handling, 2.5.2 "The Personality Routine".
// Thread-safety: thread-safe. Cost: none where nothing is thrown.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_UNWIND_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_UNWIND_H_

#include <cstdint>

extern "C" __attribute__((visibility("hidden"), used)) int fathom_unwind_personality(
    int version, int actions, std::uint64_t exception_class, void* exception, void* context);

// First statement of a function that holds a frame. 0x1b: 4 bytes, relative, direct.
#define FATHOM_ENDS_FRAME_ON_UNWIND() \
  __asm__ volatile(".cfi_personality 0x1b, fathom_unwind_personality")

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_UNWIND_H_
