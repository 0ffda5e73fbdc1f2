// The end of each optimizer step, told as an op of a communicator of one: the iterations of a job
// that has no other rank to communicate with.
//
// Called by daemon/tracer/python/entry.cc, whenever a step of an optimizer has ended.
//
// Model: the first step of a process that is a job of its own makes a group slot of size 1, named
// kStepGroup, whose ops are of kind kStep and carry the bytes of what the optimizer updates. Where
// a launcher told of other ranks, or a communicator has other members, nothing is written: the ops
// between ranks tell iterations better, and alike on all of them.
// Thread-safety: thread-safe. Errors: none; without a free slot nothing is told. Cost: two records
// a step and a look at the slots in use; the first step makes the slot.
#ifndef FATHOM_DAEMON_TRACER_CORE_STEPS_H_
#define FATHOM_DAEMON_TRACER_CORE_STEPS_H_

#include <cstdint>

#include "daemon/tracer/core/tracer_state.h"

namespace fathom::tracer {

inline constexpr char kStepGroup[] = "optimizer";

// The state where steps are to be told, after turning the tracer on where no launcher tells of
// other ranks; else null.
TracerState* StateOfSteps();
// The slot that steps of this process are told in; kNoGroupSlot where they are not told. `made`: it
// was by this call.
std::uint16_t StepSlot(TracerState& state, bool* made);
// A step ended now. Requires: `slot` is one that StepSlot gave.
void NoteStep(TracerState& state, std::uint64_t bytes);

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_STEPS_H_
