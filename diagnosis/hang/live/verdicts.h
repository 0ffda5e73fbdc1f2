// The verdicts of rule hang: one function a way to hang, each with its sentence, evidence, grade,
// owner and what to do. docs/rules/hang.md.
//
// Thread-safety: pure functions. Cost: O(paths), and that of BaseVerdict (hang/stuck_job.h).
#ifndef FATHOM_DIAGNOSIS_HANG_LIVE_VERDICTS_H_
#define FATHOM_DIAGNOSIS_HANG_LIVE_VERDICTS_H_

#include <vector>

#include "diagnosis/hang/live/cut_off.h"
#include "diagnosis/hang/live/suspect.h"
#include "diagnosis/hang/order/mismatch.h"
#include "diagnosis/hang/order/order_words.h"
#include "diagnosis/hang/order/program_order.h"
#include "diagnosis/hang/place/meeting_place.h"
#include "diagnosis/hang/place/stuck_job.h"
#include "diagnosis/hang/place/troubled_paths.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

// Stopped by a signal, held by a debugger, or frozen by its control group.
bool IsHalted(const RankFacts& facts);
// Of a rank that has been at it for `time`: against its stall threshold, with patience.
Grade GradeOfHang(const StuckJob& job, const RankFacts& facts, Nanos time, Occupation occupation);

// `others_dead`: ranks whose processes went too.
Verdict ConvictDead(const StuckJob& job, const RankFacts& facts,
                    const std::vector<RankId>& others_dead);
// Stopped by a signal, held by a debugger, or frozen by its control group.
Verdict ConvictHalted(const StuckJob& job, const RankFacts& facts);
// Alive and outside of the communication that others wait in: hung, or only slow.
Verdict ConvictAbsent(const StuckJob& job, const RankFacts& facts);
Verdict ConvictMismatch(const StuckJob& job, const Mismatch& found);
// `ring`: the ranks that wait for one another. `orders`: of the rows.
Verdict ConvictOrder(const StuckJob& job, const OrderBreak& found, const std::vector<RankId>& ring,
                     const Orders& orders);
// Ranks that wait for one another in a ring with sends and receives in it: they called them in
// orders that cannot meet.
Verdict ConvictMessages(const StuckJob& job, const std::vector<RankId>& ring, const Orders& orders,
                        Grade grade);
// `found`: of all ranks.
Verdict ConvictCommunication(const StuckJob& job, const StuckInstance& stuck,
                             const TroubledPaths& found);
// All that is stuck in the job meets at `place`. Requires: not kNone.
Verdict ConvictPlace(const StuckJob& job, const MeetingPlace& place, const TroubledPaths& found);

// A lead: what goes on there cannot be seen.
Verdict LeadOnCutOff(const StuckJob& job, const CutOffNode& cut);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_LIVE_VERDICTS_H_
