// What bounds an iteration → fathom.v1.Step, one to one, with its words.
//
// Used by export/report for every report. Thread-safety: pure function. Errors: none.
#ifndef FATHOM_COLLECTOR_EXPORT_STEP_PROTO_H_
#define FATHOM_COLLECTOR_EXPORT_STEP_PROTO_H_

#include "diagnosis/tables/step_bound.h"

namespace fathom::v1 {
class Step;
}

namespace fathom::collector {

void ToProto(const diagnosis::StepBound& from, v1::Step& out);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_STEP_PROTO_H_
