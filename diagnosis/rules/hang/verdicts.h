// The verdicts of rule hang: one function a way to hang, each with its sentence, evidence, grade,
// owner and what to do. docs/rules/hang.md.
//
// Thread-safety: pure functions. Cost: O(ranks + open ops).
#ifndef FATHOM_DIAGNOSIS_RULES_HANG_VERDICTS_H_
#define FATHOM_DIAGNOSIS_RULES_HANG_VERDICTS_H_

#include <vector>

#include "diagnosis/graph/wait_for.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"
#include "diagnosis/rules/hang/program_order.h"
#include "diagnosis/rules/mismatch.h"
#include "diagnosis/rules/rule.h"

namespace fathom::diagnosis {

// Lifetime: of one examination.
struct StuckJob {
  const Case& c;
  const WaitFor& graph;
};

// `others_dead`: ranks whose processes went too.
Verdict ConvictDead(const StuckJob& job, const RankFacts& facts,
                    const std::vector<RankId>& others_dead);
// Stopped by a signal, held by a debugger, or frozen by its control group.
Verdict ConvictHalted(const StuckJob& job, const RankFacts& facts);
// Alive and outside of the communication that others wait in: hung, or only slow.
Verdict ConvictAbsent(const StuckJob& job, const RankFacts& facts);
Verdict ConvictMismatch(const StuckJob& job, const Mismatch& found);
Verdict ConvictOrder(const StuckJob& job, const OrderBreak& found);
Verdict ConvictCommunication(const StuckJob& job, const StuckInstance& stuck);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_RULES_HANG_VERDICTS_H_
