// Words for what bounds an iteration: names of the report, the sentence, and what to try.
//
// Used by collector/export for every report. Model: the names are those of docs/formats/report.md
// and never change; sentence and advice are for people. The advice is on the largest loss, and on
// computing where nothing else is worth winning: it names no rank, node or device, for nobody is
// accused here. Thread-safety: pure functions. Errors: none; empty where nothing is known.
#ifndef FATHOM_DIAGNOSIS_TABLES_STEP_WORDS_H_
#define FATHOM_DIAGNOSIS_TABLES_STEP_WORDS_H_

#include <string>
#include <string_view>

#include "diagnosis/tables/step_bound.h"

namespace fathom::diagnosis {

// "computing", "input", …
std::string_view ToString(StepPart part);
// "thread", "device", "host".
std::string_view ToString(StepClock clock);

// "An iteration takes 52.1 ms: computing 61 %, data loader 35 %, …. It is bound by computing; …"
std::string InWords(const StepBound& bound);
// "Give the data loader more workers, …"
std::string AdviceOn(const StepBound& bound);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_TABLES_STEP_WORDS_H_
