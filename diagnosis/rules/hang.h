// Rule hang: why does the job stand still? docs/rules/hang.md.
//
// Model: a job is stuck when a rank has been silent for longer than its history explains
// (engine/stall) and others wait in ops as old. The wait-for graph is followed to its sinks:
//   process gone → process_dead; stopped by a signal → process_stopped; alive but not in the op
//   that the others wait in → noncommunication_hang; other kind or size at the same sequence →
//   mismatch, the odd one out named; all inside and none done → communication_hang of the group.
// A rank that is busy may only be at a checkpoint: its grade grows with the time it is silent.
//
// Thread-safety: pure. Cost: O(open ops × members).
// Source: methods of Mycroft (SOSP'25) and MegaScale (NSDI'24) for the classes; grades are ours.
#ifndef FATHOM_DIAGNOSIS_RULES_HANG_H_
#define FATHOM_DIAGNOSIS_RULES_HANG_H_

#include "diagnosis/rules/rule.h"

namespace fathom::diagnosis {

Rule HangRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_RULES_HANG_H_
