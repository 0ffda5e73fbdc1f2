// How the collector's own work is going: what each part of it costs, and at which level each part
// that may be done more coarsely is done.
//
// Owned by Collector; refers to nothing. Whoever does a part of the work says so with a Doing and
// asks PaceOf how finely to go about it; BudgetKeeper reads what it cost and sets the levels
// (docs/operations/budget.md). Null stands for none, as in tests of a part: nothing is counted, and
// all is done as finely as it is set.
//
// Units: see centre_knob.h; ns of processor time. Thread-safety: thread-safe. Errors: none.
// Cost: of a Doing two readings of the thread's clock; of PaceOf one load.
#ifndef FATHOM_COLLECTOR_BUDGET_CENTRE_WORK_H_
#define FATHOM_COLLECTOR_BUDGET_CENTRE_WORK_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collector/budget/centre_knob.h"
#include "collector/process/clock.h"
#include "daemon/service/budget/cost_meter.h"

namespace fathom::collector {

enum class CentrePart : std::uint8_t {
  kMessages,   // of agents, taken in; events: messages
  kJournal,    // of what they tell; events: messages
  kRows,       // that were asked for, unpacked; events: answers
  kTurns,      // of the diagnoser, without its looks: who is due; events: turns
  kLooks,      // at jobs that are well; events: looks
  kUrgent,     // at jobs that show something; events: looks
  kDiagnosis,  // events: diagnoses
  kPaths,      // of jobs that are well, compared; events: comparisons
  kCaptures,   // of stacks, asked for and compared; events: looks at a job
  kNews,       // for open pages; events: looks at a job
  kAccounts,   // accounts and runs of jobs; events: looks at a job
  kWrites,     // to the store, of jobs as they go on; events: writes
  kAnswers,    // of the API and the page; events: requests
  kScrapes,    // of the metrics; events: requests
  kExports,    // recordings, reports, ops; events: requests
};
inline constexpr std::size_t kCentreParts = 15;
const char* NameOf(CentrePart part);

using CentreMeter = service::CostMeter<CentrePart, kCentreParts>;

class CentreWork {
 public:
  explicit CentreWork(const Clock& clock) : meter([&clock] { return clock.ThreadCpu().count; }) {}

  double Pace(CentreKnob knob) const {
    return FactsOf(knob).values[level_[static_cast<std::size_t>(knob)]];
  }
  void Hold(CentreKnob knob, std::size_t level) { level_[static_cast<std::size_t>(knob)] = level; }

  CentreMeter meter;

 private:
  std::array<std::atomic<std::size_t>, kCentreKnobs> level_{};
};

// From its making to its end the calling thread does this part of the work. It handles `events`.
class Doing {
 public:
  Doing(CentreWork* work, CentrePart part, std::uint64_t events = 1)
      : in_(work == nullptr ? nullptr : &work->meter, part) {
    if (work != nullptr) work->meter.Handled(part, events);
  }

 private:
  const CentreMeter::In in_;
};

inline double PaceOf(const CentreWork* work, CentreKnob knob) {
  return work == nullptr ? FactsOf(knob).values[0] : work->Pace(knob);
}

// Of a knob whose values are ms.
inline Nanos GapOf(const CentreWork* work, CentreKnob knob) {
  return Nanos(static_cast<std::int64_t>(PaceOf(work, knob) * 1e6));
}

// Between two writes of how a job goes on, that are `rest` apart as set.
inline Nanos RestOf(const CentreWork* work, Nanos rest) {
  return Nanos::FromSeconds(rest.Seconds() * PaceOf(work, CentreKnob::kWrites));
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUDGET_CENTRE_WORK_H_
