// Gives the ops of Gloo traces their communicators, from the dumps of the same run.
//
// Called after all importers of a folder have read: by ReadRecording, and by tests.
//
// Model: a Flight Recorder dump lists the collectives that a rank entered, in order, with group and
// sequence; a Gloo trace lists the same calls without them. The n-th call is the n-th entry of the
// same span. The span is found by time: both write the wall clock of the host, and an entry is
// created inside its call. It is used for a rank where at least kEnough of the calls agree in kind
// and time; send and recv leave no entry of their own. Of each window of the profiler by itself.
//
// Thread-safety: pure. Errors: none; a rank where it fails keeps what was guessed, with a note.
// Cost: O(ops log ops).
// Source: checked on recordings of PyTorch 2.13, entry by entry.
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_RECORD_JOIN_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_RECORD_JOIN_H_

#include "collector/import/reading/recording.h"

namespace fathom::collector::kineto {

inline constexpr double kEnough = 0.9;

// Uses recording.view.records on recording.view.rows of groups that were guessed, and summarises
// again. Does nothing where there are no records or no traces.
void JoinRecords(Recording& recording);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_RECORD_JOIN_H_
