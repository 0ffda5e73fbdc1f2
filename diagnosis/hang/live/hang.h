// Rule hang: why does the job stand still? docs/rules/hang.md.
//
// Model: a job is stuck when a rank has been silent for longer than its history explains
// (watch/stall) and others wait in ops as old. The wait-for graph is followed to its sinks:
//   process gone → process_dead; stopped by a signal, frozen or traced → process_stopped; alive but
//   not in the op that the others wait in → noncommunication_hang, unless its data loader is at
//   work; other kind, size, type or root at the same sequence → mismatch, the odd one out named; a
//   ring of waits → mismatch, by the order of who broke with its own; a ring of messages that do
//   not meet → mismatch of the ring; all inside and none done → communication_hang of the group;
//   all that is stuck meets at one link, rank or node → communication_hang of that place; all wait
//   for the ranks of one node that is out of reach whole → a lead on it (hang/cut_off.h).
// Deaths are asked for first, for a job that died is not silent for long (hang/death.h). A rank
// that may be at work (hang/suspect.h) is given more patience: its grade grows with the time it is
// silent.
//
// Thread-safety: pure. Cost: O(ranks × window) for what the history explains, and that of the
// wait-for graph, of comparing calls and of the verdicts (graph/wait_for.h, hang/order/mismatch.h,
// hang/verdicts.h); for a ring also that of its orders (hang/order_words.h, hang/program_order.h).
// Source: methods of Mycroft (SOSP'25) and MegaScale (NSDI'24) for the classes; grades are ours.
#ifndef FATHOM_DIAGNOSIS_HANG_LIVE_HANG_H_
#define FATHOM_DIAGNOSIS_HANG_LIVE_HANG_H_

#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

Rule HangRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_LIVE_HANG_H_
