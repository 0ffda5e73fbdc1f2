// What repairing one suspect alone would win back: a stage, or a worker.
//
// Used by collector/import/analysis for the report's what_if. Model: T − T with ideal durations in
// that one and recorded ones elsewhere (model/what_if.h); negative where ideal durations are longer
// than its own. Workers: those of which most remains of S (WhatIf::worker), kWorkersRepaired of
// them.
//
// Units: seconds a step. Thread-safety: pure function. Errors: none where the trace cannot be
// replayed. Cost: the replay is made anew, and played once for each stage and worker.
#ifndef FATHOM_DIAGNOSIS_SCHEDULE_REPAIRS_H_
#define FATHOM_DIAGNOSIS_SCHEDULE_REPAIRS_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "diagnosis/model/schedule_trace.h"
#include "diagnosis/model/what_if.h"
#include "proto/types/ids.h"

namespace fathom::diagnosis {

inline constexpr std::size_t kWorkersRepaired = 8;

struct Repairs {
  std::map<std::int32_t, double> stage;
  std::map<RankId, double> worker;
};

// Requires: `what_if` is of this trace.
Repairs RepairsOf(const ScheduleTrace& trace, const WhatIf& what_if);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SCHEDULE_REPAIRS_H_
