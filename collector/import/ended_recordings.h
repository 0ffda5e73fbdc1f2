// Tells which ranks' recordings end before those of the others: a file that was cut, a process that
// died, a profiler that was stopped early.
//
// Used by ReadRecording() once all files are read.
//
// Model: iterations are compared, not times, for clocks may be apart. Adds the signal "recording",
// partly there, to view.signals; nothing where all recordings end with the same iteration, and
// nothing of recordings that were judged as they were read.
// Thread-safety: pure function on the recording. Errors: none. Cost: one pass over the summaries.
#ifndef FATHOM_COLLECTOR_IMPORT_ENDED_RECORDINGS_H_
#define FATHOM_COLLECTOR_IMPORT_ENDED_RECORDINGS_H_

#include "collector/import/reading/recording.h"

namespace fathom::collector {

void TellEndedRecordings(Recording& recording);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_ENDED_RECORDINGS_H_
