// When the diagnoser looks at a job again.
//
// Owned by Diagnoser, one a job. Model: a look costs O(ranks × window), so that in the long run
// looks at a job may take `share` of one core. What is not used is saved, up to `reserve_s`; a look
// that should not wait is paid from that. Where looks are dear, four of them are saved for, because
// a localisation takes three or four, however many ranks there are:
//
//   nothing wrong   kGap after the last look began, or its cost ÷ share if that is more
//   in a hurry      sooner, while there are savings; then as if nothing were wrong
//
// In a hurry are: rows that were asked for and are all in; and, kGap after the last look began, of
// a job that is slow, stalled or whose newest iteration was irregular, an iteration that all ranks
// have reported since the last look, and of any job one that took longer than is usual; and, of a
// job that stands still, a verdict that was seen once and waits to be seen again. Another needs new
// data to be confirmed: iterations, reports or rows.
//
// A job that is well, of which nothing shows that would want a look (LookReasons::shows), may be
// looked at less often than that, where the collector's budget wants it
// (docs/operations/budget.md): `calm_gap` is at least between two such looks. As soon as anything
// shows the rest counts as above.
//
// An iteration that only some ranks have reported is not looked at before it is a gap old: that
// would cost as much and see half. Where there is always one, as of a job whose ranks report in
// turns or of which one no longer does, nothing is waited for.
//
//   bound: looks within a time T cost at most share × T + max(reserve_s, four looks) + one look
//
// Units: the caller's monotonic clock; costs in CPU time. Thread-safety: thread-compatible. Errors:
// none. Cost: O(1). Source: the share is ours; the reserve is some ten looks at 8,192 ranks.
#ifndef FATHOM_COLLECTOR_EVALUATE_LOOK_SCHEDULE_H_
#define FATHOM_COLLECTOR_EVALUATE_LOOK_SCHEDULE_H_

#include <cstdint>

#include "proto/types/time_units.h"

namespace fathom::collector {

struct LookPace {
  double share = 0.25;   // of a core, that looks at one job take in the long run
  double reserve_s = 2;  // of looking, that a quiet job saves
};

// What has come of a job.
struct LookReasons {
  bool news = false;         // anything, since the last look
  bool rows_are_in = false;  // all that were asked for
  std::int64_t newest = -1;  // iteration that some rank reported
  std::int64_t whole = -1;   // the newest that all ranks reported
  MonoNs partial_since;      // since when `newest` is beyond `whole`
  bool slower = false;       // the one of `whole` took longer than is usual
  bool shows = true;         // something that wants a look soon, or what is usual is not known yet
  Nanos calm_gap{0};         // between looks at a job that is well
};

// What a look made of it.
struct LookFindings {
  bool uneasy = false;         // slow, stalled, or the newest iteration was irregular
  bool verdict_waits = false;  // for a second look, of a job that brings no more iterations
};

class LookSchedule {
 public:
  static constexpr Nanos kGap{250'000'000};
  static constexpr Nanos kIdle{1'000'000'000};  // also without news: ended jobs, silence
  static constexpr double kLooksSaved = 4;      // that a localisation takes

  explicit LookSchedule(const LookPace& pace);

  // How long the job may wait. Not positive: look now.
  Nanos Left(const LookReasons& reasons, MonoNs now) const;
  // Whether all is well with the job: the last look found nothing, and nothing has shown since.
  bool Well(const LookReasons& reasons) const;
  // The shortest rest that the job's share lets it have between two looks.
  Nanos gap() const { return gap_; }
  // A look has been, for these reasons.
  void Looked(const LookReasons& reasons, const LookFindings& findings, MonoNs begin, MonoNs end,
              Nanos cost);

 private:
  MonoNs Calm(const LookReasons& reasons) const;
  MonoNs Hurried(const LookReasons& reasons, MonoNs otherwise) const;
  Nanos Saved(MonoNs now) const;

  LookPace pace_;
  Nanos reserve_;                          // that is saved at most
  Nanos saved_;                            // when the last look ended; negative: overdrawn
  Nanos gap_ = kGap;                       // that the last look asks for
  MonoNs began_, ended_;                   // the last look; not known: there was none
  MonoNs next_;                            // where nothing is wrong
  std::int64_t newest_ = -1, whole_ = -1;  // as the last look saw them
  LookFindings findings_;                  // of the last look
  bool second_ = false;                    // the look before it left a verdict waiting
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EVALUATE_LOOK_SCHEDULE_H_
