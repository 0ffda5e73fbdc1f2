// The whole diagnosis of one job view: from irregular iterations and stalls to verdicts.
//
// Called by collector when Watch() was suspicious and the rows it wanted have come (or a deadline
// has passed: then with what is there), by importers, and by the simulator. Pure.
//
// Model: every rule (diagnosis/slowness/rules) looks at the view and gives charges or abstains;
// charges of several iterations are gathered as evidence per entity (methods.md 5, 7); evidence
// becomes verdicts with a grade. An entity is never convicted on one communicator's evidence if it
// has several, never on one iteration, and never if another explains its lateness.
//
// A rise within an episode (Suspicion::rise) is judged by itself, against what was usual in the
// episode. If it has a culprit, that is told beside what is said of the whole.
//
// Thread-safety: pure functions. Errors: none; what cannot be told is in `abstained`.
// Cost: O(rows log rows).
#ifndef FATHOM_DIAGNOSIS_ENGINE_DIAGNOSE_H_
#define FATHOM_DIAGNOSIS_ENGINE_DIAGNOSE_H_

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/topology.h"
#include "diagnosis/model/verdict.h"
#include "diagnosis/watch/watch.h"

namespace fathom::diagnosis {

// `suspicion` is what Watch() said of the same view. Leaves `ranks` to TotalsOf() (watch/totals).
Diagnosis Diagnose(const JobView& view, const Suspicion& suspicion, const DiagnosisConfig& config);

// The same where it is told how the nodes hang on their switches. Null: it is not.
Diagnosis DiagnoseWired(const JobView& view, const Suspicion& suspicion,
                        const DiagnosisConfig& config, const Topology* topology);

// What the next Watch() is to know of it. `episode`: that of the same view's suspicion.
void Remember(const Diagnosis& diagnosis, Episode& episode);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_ENGINE_DIAGNOSE_H_
