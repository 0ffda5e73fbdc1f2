// What the parts of rule stopped_job look at, and the verdicts they write.
//
// Used by hang/records/stopped_job.cc and the other files of this folder. Thread-safety: pure
// functions.
#ifndef FATHOM_DIAGNOSIS_HANG_RECORDS_SITUATION_H_
#define FATHOM_DIAGNOSIS_HANG_RECORDS_SITUATION_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "diagnosis/evidence/rule.h"
#include "diagnosis/graph/record_graph.h"
#include "diagnosis/hang/place/odd_one_out.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis::records {

// Lifetime: of one examination.
struct Situation {
  const JobView& view;
  const DiagnosisConfig& config;
  RecordGraph graph;
  Sinks sinks;

  bool stuck() const;                      // some op is open that nobody finished
  bool ended() const;                      // some process says that it failed
  bool members_in_doubt() const;           // the sources contradict on who is in a group
  bool point_to_point_hidden() const;      // the source lists no sends and receives, but there are
  std::vector<RankId> unrecorded() const;  // ranks of the job without a record
  std::vector<RankId> incomplete() const;  // likewise, and those whose record was cut
};

// Whether ranks that are still inside an op which most have finished may only wait for others: in
// an op with a root a member waits for those between it and the root, and which root each took is
// not recorded; and of several that are behind one may wait for another. Requires: they are behind.
bool MayWaitForOthers(const Situation& s, const std::vector<RankId>& behind);

// The instance that each rank is inside of first, by its own order of entry, of those that nobody
// has finished.
std::map<RankId, std::size_t> FirstOpen(const Situation& s);

// All members entered this instance and are inside of nothing older: what is stuck is here.
bool IsHead(const RecordGraph& graph, std::size_t i, const std::map<RankId, std::size_t>& first);

// "all_reduce 92 of default_pg (0)": counted from 1, as the source does.
std::string OpName(const JobView& view, const StuckInstance& instance);

// A verdict on these ranks with cause, class, owner, victims, since and cost filled in.
Verdict Accuse(const Situation& s, Cause cause, std::vector<RankId> ranks);

// Adds who waits where for `ranks`, the largest instances first.
void AddWaits(const Situation& s, const std::vector<RankId>& ranks, Verdict& verdict);

// Adds where in the program these ranks called the op, each place with its ranks; kNoSequence: the
// newest op that is open. Nothing where the records do not tell.
void AddSites(const Situation& s, const std::vector<RankId>& ranks, GroupId group,
              Sequence sequence, Verdict& verdict);

// The chain behind ranks that called this op otherwise than its other members, who wait for them.
void AddChainBehindCall(const Situation& s, GroupId group, Sequence sequence, Verdict& verdict);

// Each part gives its verdicts, or none.
std::vector<Verdict> JudgeMismatch(const Situation& s);
std::vector<Verdict> JudgeIdle(const Situation& s, Findings& findings);
// Ranks that have not finished what all others have, though they took part in what came later.
std::vector<Verdict> JudgeUnfinished(const Situation& s);
// Of the members of an op that all entered and none finished, those whose host went no further
// while the others' did.
std::vector<Verdict> JudgeOutrun(const Situation& s);
std::vector<Verdict> JudgeRing(const Situation& s, Findings& findings);
std::vector<Verdict> JudgeOrderOfEntry(const Situation& s);
std::vector<Verdict> JudgeUnrecorded(const Situation& s, Findings& findings);
std::vector<Verdict> JudgeCommunication(const Situation& s, Findings& findings);
std::vector<Verdict> JudgeStacks(const Situation& s);
std::vector<Verdict> JudgeEnded(const Situation& s, Findings& findings);

}  // namespace fathom::diagnosis::records

#endif  // FATHOM_DIAGNOSIS_HANG_RECORDS_SITUATION_H_
