// In which function the ranks that a recording convicts spend their time, as its traces tell.
//
// Used by Analyze. docs/rules/functions.md.
//
// Model: the stacks that a profiler recorded of the training threads stand for a capture of a live
// job, and are compared as such.
//
// Thread-safety: thread-compatible. Errors: none; a verdict whose function is not found says why in
// its detail. Cost: that of functions/compare, a verdict.
#ifndef FATHOM_COLLECTOR_IMPORT_RECORDED_FUNCTIONS_H_
#define FATHOM_COLLECTOR_IMPORT_RECORDED_FUNCTIONS_H_

#include <vector>

#include "collector/import/reading/recording.h"
#include "collector/verdict/episode.h"

namespace fathom::collector {

// Marks in the capture who stands accused.
void TellRecordedFunctions(Recording& recording, std::vector<Episode>& episodes);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_RECORDED_FUNCTIONS_H_
