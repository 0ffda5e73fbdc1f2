// A slow stretch that was over again before a recording ended.
//
// Used by `fathom analyze` where nothing is slow at the end. Live jobs have episodes for it
// (collector/verdict), which are judged while they last.
//
//   50 52 49 51 | 120 118 123 119 121 | 50 53 51 52      iterations of 50 ms, five of 120 ms
//
// Model: of all stretches with three iterations (kFewestForMedian) or more before, in and behind
// them, the one that lies highest above the rest by rank sum. It counts if its chance,
// times the number of stretches tried, stays below recorded_chance, its median is above delta ×
// that of the rest, and both before and behind it config.consistent_share of the iterations lie
// below the middle of the two medians: what comes and goes is no stretch. Iterations at its edges
// that lie below the middle are cut off.
//
// Who held it back is asked of the recording as it stood at the end of the stretch, with what lies
// before as the baseline. Whom that would convict is told as a lead and no more, for other load on
// a node, a checkpoint or an evaluation come and go as well; else it is asked who it was.
// What was slow from the first iteration on and became well has no baseline and is not found.
//
// Thread-safety: as the view. Errors: none. Cost: O(n²) for n iterations, at most
// kLongestSearched, and one judgement.
// Source: Mann & Whitney 1947; Bonferroni over the stretches.
#ifndef FATHOM_COLLECTOR_IMPORT_PASSED_STRETCH_H_
#define FATHOM_COLLECTOR_IMPORT_PASSED_STRETCH_H_

#include <cstddef>
#include <optional>

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::collector {

inline constexpr std::size_t kLongestSearched = 1024;
// The kind of its iterations in the report.
inline constexpr char kPassed[] = "passed";

struct PassedStretch {
  diagnosis::Episode episode;
  std::size_t end = 0;  // in the window, behind its last slow iteration
  Iteration until{-1};  // that iteration
};

[[nodiscard]] std::optional<PassedStretch> FindPassedStretch(
    const diagnosis::JobView& view, const diagnosis::DiagnosisConfig& config);

// Adds what is to be said of such a stretch, and returns its last iteration; −1: there is none.
// `view` is as before when it returns.
Iteration JudgePassedStretch(diagnosis::JobView& view, const diagnosis::DiagnosisConfig& config,
                             diagnosis::Diagnosis& diagnosis);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_PASSED_STRETCH_H_
