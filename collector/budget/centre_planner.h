// Decides how finely the collector works, from what its work was measured to cost and what it may
// spend.
//
// Owned by BudgetKeeper, asked every few seconds. docs/operations/budget.md.
//
// Model: what a part takes is how often it happens times what one of it costs, both as measured
// (part_measure). From that follows what each level of a knob would take:
//
//   looks      of each job that is well what a look took, every gap of the level, or as seldom as
//              the job's own share wants; scaled by what looks were measured to take now
//   paths, news, writes    as often as the level says, against how often the one that holds does
//   captures   the level's share of those that an hour may have
//   shown      rows that pages asked for, of each job at most the level's share
//
// The rest is taken as it is, above all what makes a verdict come in time: messages, rows, looks at
// jobs that show something, and diagnoses. level_keeper picks the levels and keeps to them.
//
// Units: see spend.h; ns, seconds. Thread-safety: thread-compatible. Errors: none; what cannot be
// made to fit says so in the plan. Cost: that of choose_levels, once a look, and O(jobs).
#ifndef FATHOM_COLLECTOR_BUDGET_CENTRE_PLANNER_H_
#define FATHOM_COLLECTOR_BUDGET_CENTRE_PLANNER_H_

#include <array>
#include <cstddef>
#include <vector>

#include "collector/budget/centre_work.h"
#include "daemon/service/budget/level_keeper.h"
#include "daemon/service/budget/part_measure.h"

namespace fathom::collector {

// Of a job that is well: what its last look took, and how often its own share lets it be looked at.
struct CalmLook {
  double cpu_s = 0;
  double rest_s = 0;
};

// What was seen since the last look, or stands now.
struct CentreSeen {
  double seconds = 0;
  CentreMeter::Costs costs{};
  double process_cpu_s = 0;  // all threads, since the start
  double bytes = 0;          // that agents sent, since the last look
  double memory = 0;         // that the process shares with nobody
  std::vector<CalmLook> looks;
  std::vector<double> shown;  // rows that are kept for pages, by job
  double shown_most = 0;      // of a job, at the finest level
  double shown_row_bytes = 0;
};

class CentrePlanner {
 public:
  explicit CentrePlanner(const service::Spend& budget) { plan_.budget = budget; }

  // Whether the levels changed.
  bool Look(const CentreSeen& seen, MonoNs now);
  const service::WorkPlan& plan() const { return plan_; }
  std::size_t LevelOf(CentreKnob knob) const {
    return keeper_.held()[static_cast<std::size_t>(knob)];
  }

 private:
  void Learn(const CentreSeen& seen);
  service::Levels Predict(const CentreSeen& seen) const;
  void PredictLooks(const CentreSeen& seen, std::vector<service::Level>& levels) const;
  void PredictShown(const CentreSeen& seen, std::vector<service::Level>& levels) const;
  service::Spend Unchosen(const CentreSeen& seen, const service::Levels& levels) const;
  // As `knob` would cost at another level, where it costs as often as it is done.
  double CoresAt(CentreKnob knob, CentrePart part, std::size_t level) const;
  void Tell(const service::Levels& levels);
  // What goes on at other levels than `before` is told, and expected as often as that makes it.
  void Changed(const std::vector<std::size_t>& before, const service::Levels& levels);
  const service::PartMeasure& Of(CentrePart part) const {
    return measures_[static_cast<std::size_t>(part)];
  }

  service::WorkPlan plan_;
  service::LevelKeeper keeper_{kCentreKnobs, "it would come too late"};
  std::array<service::PartMeasure, kCentreParts> measures_{};
  double process_cpu_s_ = -1;  // at the last look; -1: there was none
  double others_cores_ = 0;    // of the process, outside of the parts
  double bytes_per_s_ = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUDGET_CENTRE_PLANNER_H_
