// A small step in the iteration time that is lost in the job's own noise, and that a rank tells: at
// the same iteration its own time began to be longer, by far more than its noise. Part of Watch(),
// where the iteration times alone (watch/shift) do not tell: the step is smaller than that asks
// for, or in a noisy job, as large ones are, too small to be told from what others do on a machine.
//
//   job      361 359 362 360 361 | 365 363 367 364 366     1.1 %, noise 0.6 %: could be chance
//   rank 7   181 179 182 180 178 | 205 203 206 202 205     24 times its standard error
//
// Model: a rank's own time is what of an iteration it was not blocked. Of all ranks the one is
// taken whose step is largest in its own standard errors, where the job's step is large enough to
// ask why (of a noisy job as many standard errors as watch/shift asks for). It must stand out from
// the steps of all ranks at that place, by their median and their spread: what moves all ranks is
// no rank's doing, and where noise goes on from one iteration to the next, steps of chance are
// larger than their standard errors say, and those of other ranks tell by how much. It must lie
// apart point by point, be better than a straight line, and explain a share of what the job lost,
// and no other place may explain the job's step better than chance would. Where a rank tells the
// place, shift_goes_on (half) of what watch/shift asks of the job's step is enough; of the rank as
// many standard errors are asked beyond shift_sigmas, for thousands of ranks are looked at. Only
// the question follows from it, and since when: who is at fault is told from rows, by the same
// rules as always.
//
// During an episode handed back by the caller the place is its onset, and half of that is enough,
// while the rank's newest iterations lie nearer to its step than to its time before.
//
// Units: seconds. Thread-safety: pure. Cost: O(points²), and where the job may have taken a step
// O(ranks × points): some 2 µs a rank. Source: ours.
#ifndef FATHOM_DIAGNOSIS_WATCH_RANK_SHIFT_H_
#define FATHOM_DIAGNOSIS_WATCH_RANK_SHIFT_H_

#include <optional>

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/watch/series.h"
#include "diagnosis/watch/shift.h"

namespace fathom::diagnosis {

// `series` is that of the view: the job's step is told by all of it, those of ranks by what the
// window holds, of many communicators baseline_iterations before the step at least. Ranks that
// lack one of these are left out.
[[nodiscard]] std::optional<Shift> FindRankShift(const JobView& view, const JobSeries& series,
                                                 const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_WATCH_RANK_SHIFT_H_
