// What is said of a run and its history, and what differs between two runs.
//
// Used by run_keeper and the API. Units: seconds. Thread-safety: pure functions. Errors: none.
#ifndef FATHOM_COLLECTOR_RUNS_RUN_WORDS_H_
#define FATHOM_COLLECTOR_RUNS_RUN_WORDS_H_

#include <string>
#include <vector>

#include "collector/store/run_record.h"

namespace fathom::collector {

// Of those, the ones that `run` may be held against: of its profile, healthy, another run. In the
// order of `runs`.
std::vector<RunRecord> Comparable(const RunRecord& run, const std::vector<RunRecord>& runs);

// "like none of 4 earlier runs of train.py: 8 ranks instead of 4 (r0123456789ab)"; `runs`: of the
// job, or all.
std::string LikeNone(const RunRecord& run, const std::vector<RunRecord>& runs);

// What came of a comparison, in one sentence.
std::string OutcomeInWords(const diagnosis::RunJudgement& judgement);

// The stretch of both that is compared when a person asks: the longest that both have.
std::pair<diagnosis::Distribution, diagnosis::Distribution> CommonStretch(const RunRecord& a,
                                                                          const RunRecord& b);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_RUNS_RUN_WORDS_H_
