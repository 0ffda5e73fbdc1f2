// A comparison of two recordings → fathom.v1.Comparison.
//
// Used by collector/import/analysis. Thread-safety: pure function. Errors: none.
#ifndef FATHOM_COLLECTOR_EXPORT_COMPARISON_PROTO_H_
#define FATHOM_COLLECTOR_EXPORT_COMPARISON_PROTO_H_

#include "diagnosis/tables/comparison.h"

namespace fathom::v1 {
class Comparison;
}

namespace fathom::collector {

void ToProto(const diagnosis::Comparison& from, v1::Comparison& out);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_COMPARISON_PROTO_H_
