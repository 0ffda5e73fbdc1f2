// How far the clocks of a recording's ranks are apart, for who draws or compares their times.
//
// Used by ReadRecording() once all files are read, for every format that has times of ops.
//
// Model: diagnosis/graph/alignment.h over the rows, kept in recording.clocks; the signal "clocks"
// says what cannot be told for it. Of formats without times of when ops ended (Flight Recorder
// dumps) there are no rows, and nothing is said.
// Thread-safety: pure function on the recording. Errors: none. Cost: that of AlignClocks().
#ifndef FATHOM_COLLECTOR_IMPORT_CLOCKS_H_
#define FATHOM_COLLECTOR_IMPORT_CLOCKS_H_

#include "collector/import/reading/recording.h"

namespace fathom::collector {

void TellClocks(Recording& recording);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_CLOCKS_H_
