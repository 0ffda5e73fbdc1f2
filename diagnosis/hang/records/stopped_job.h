// Rule stopped_job: why did the job stop whose ranks left these records? docs/rules/stopped_job.md.
//
// The offline sister of rule hang: it judges a view that has records (dumps) and knows nothing of
// silence or of now. Needs no signal; without records it says nothing.
//
// Model: the wait-for graph of the records (graph/record_graph.h) is followed to its ends, in this
// order: calls that differ at the same place → mismatch; processes that are stopped or gone, and
// ranks that others wait for and that are inside nothing → process_stopped, process_dead,
// noncommunication_hang; a ring of waits → mismatch of the ranks whose order no other keeps;
// members without a record, where only they can hold the others → noncommunication_hang; all inside
// and nothing finished → communication_hang, of the rank that all troubled connections share.
// Nothing open, but ranks that lost a peer → process_dead of the rank that said nothing.
//
// Thread-safety: pure. Cost: O(ops × log + ranks² × groups).
// Source: wait-for graphs as in MegaScale (NSDI'24) and PyTorch's fr_trace; unlike the latter no
// rank is taken to be right.
#ifndef FATHOM_DIAGNOSIS_HANG_RECORDS_STOPPED_JOB_H_
#define FATHOM_DIAGNOSIS_HANG_RECORDS_STOPPED_JOB_H_

#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

// Questions that stay open where nobody is named: ops are open and whom they wait for is not told;
// nothing is open, but the records do not tell all.
inline constexpr char kWhyItStandsStill[] = "why the job stands still";
inline constexpr char kWhetherItStoodStill[] = "whether the job stood still";
inline constexpr char kWhoHoldsUp[] = "which rank holds up the others";
inline constexpr char kWhoBrokeTheOrder[] = "who broke the order in a ring of waits";

Rule StoppedJobRule();

// The rule itself, for a view that is not in a Case.
void ExamineStoppedJob(const JobView& view, const DiagnosisConfig& config, Findings& findings);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_RECORDS_STOPPED_JOB_H_
