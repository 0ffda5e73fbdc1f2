// Decides how finely the agent works, from what its work was measured to cost and what a node may
// spend.
//
// Owned by Agent, asked every few seconds. docs/operations/budget.md.
//
// Model: what a part takes is how often it happens times what one of it costs, both as measured:
// costs smoothed, rates as they are now or smoothed, whichever is more, so that a job that begins
// to do ten times as much is met at once. From that follows what each level of a knob would take:
//
//   polling    (rest × times + a turn) makes the turns a second; records cost by the record, at any
//              level
//   threads    samples of all training threads a second, no more often than turns
//   workers    likewise
//   hardware   each source at its pace, or as seldom as its own budget wants
//   ops        all that the collector wants, by the op: processor time and bytes
//   rows       the answers of the last minute, cut at the level's size
//   log        rows that the logs of all ranks hold, or would by their rate and age
//
// The rest (summaries, health, what threads of libraries do, memory that is no log) is taken as it
// is. level_keeper picks the levels and keeps to them (daemon/service/budget). A level of polling
// at which a ring could be overrun within kTurnsOfARing turns is not allowed: the work gets
// coarser, never late.
//
// Captures are bursts: in kBurst_s they may take kCaptureShare of what the budget gives in that
// time. CaptureRate says how many samples a second of each process that allows, and what they took
// in the last kBurst_s is a part of the plan like any other.
//
// Units: see spend.h; ns, seconds. Thread-safety: single-threaded, the poll loop. Errors: none;
// what cannot be made to fit says so in the plan. Cost: that of choose_levels, once a look.
#ifndef FATHOM_DAEMON_AGENT_BUDGET_NODE_PLANNER_H_
#define FATHOM_DAEMON_AGENT_BUDGET_NODE_PLANNER_H_

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "daemon/agent/budget/node_plan.h"
#include "daemon/agent/budget/work_part.h"
#include "daemon/service/budget/level_keeper.h"
#include "daemon/service/budget/part_measure.h"

namespace fathom::agent {

// Of one source of hardware readings, since it began.
struct SourceCost {
  double cpu_seconds = 0;
  std::uint64_t samples = 0;
  double own_rest_s = 0;  // that its own budget wants at least
};

// Of the log of one rank.
struct LogUse {
  double rows = 0;
  double rows_per_s = 0;
  double kept_s = 0;  // so long at most
};

// What was seen since the last look, or stands now.
struct Observed {
  double seconds = 0;
  PartCosts costs;            // of the poll loop
  double process_cpu_s = 0;   // all threads, since the start
  double children_cpu_s = 0;  // tools that it ran, likewise
  std::vector<SourceCost> hardware;
  double rest_s = 0;  // between two turns, at the finest level
  double ring_s = 0;  // in which the fullest ring would be overrun; 0: none is written to
  double bytes = 0;   // handed to the stream, since the last look
  bool ops_wanted = false;
  double ops_sent = 0, ops_bytes = 0;  // since the last look
  double ops_passed = 0;               // over, likewise
  std::vector<double> rows_bytes;      // of each answer, uncut
  double memory = 0;                   // of the process, that it shares with nobody
  double log_row_bytes = 0, log_most_rows = 0;
  std::vector<LogUse> logs;
};

class NodePlanner {
 public:
  static constexpr int kCalmLooks = service::LevelKeeper::kCalmLooks;
  static constexpr double kTurnsOfARing =
      16;  // so that ten times the rate overruns none before it is seen
  static constexpr double kBurst_s = 600;
  static constexpr double kCaptureShare = 0.5;
  static constexpr std::uint32_t kLeastRate = 25;  // of a capture: fewer samples tell too little

  explicit NodePlanner(const Spend& budget) { plan_.budget = budget; }

  // Whether the paces changed.
  bool Look(const Observed& seen, MonoNs now);
  const NodePlan& plan() const { return plan_; }

  // Samples a second of each of `processes` for `seconds`, at most `asked`. The capture counts as
  // spent.
  std::uint32_t CaptureRate(std::size_t processes, double seconds, std::uint32_t asked, MonoNs now);

 private:
  using Level = service::Level;
  using Levels = service::Levels;

  void Learn(const Observed& seen);
  void LearnRows(const Observed& seen);
  void LearnOthers(const Observed& seen);
  void LearnCaptures(const Observed& seen);
  Levels Predict(const Observed& seen) const;
  void PredictTurns(const Observed& seen, Levels& levels) const;
  void PredictHardware(const Observed& seen, std::vector<Level>& levels) const;
  void PredictRows(std::vector<Level>& levels) const;
  void PredictLog(const Observed& seen, std::vector<Level>& levels) const;
  // What is sampled at another pace from now on happens as much more seldom or more often.
  void Rescale(const Paces& before, const Levels& levels);
  double CapturesTook(MonoNs now);  // in the last kBurst_s
  Spend Unchosen(const Observed& seen) const;
  void TellKnob(Knob knob, const std::vector<Level>& levels);
  void TellEvents(WorkPart of, PlanPart& part) const;
  void Tell(const Observed& seen, const Levels& levels);
  const service::PartMeasure& Of(WorkPart part) const {
    return measures_[static_cast<std::size_t>(part)];
  }

  NodePlan plan_;
  service::LevelKeeper keeper_{kKnobs, "the rings fill faster"};
  std::array<service::PartMeasure, kWorkParts> measures_{};
  double clock_s_ = 0;                               // sum of the looks' seconds
  std::deque<std::pair<double, double>> answers_;    // of the last minute: when, bytes
  double process_cpu_s_ = -1, children_cpu_s_ = -1;  // at the last look; -1: there was none
  double hardware_cpu_s_ = 0;                        // likewise, of all sources
  double others_cores_ = 0;                          // of the process, outside of the loop
  double bytes_per_s_ = 0, ops_bytes_per_s_ = 0;
  double ops_per_s_ = 0, bytes_of_op_ = 0;          // of all that are wanted
  std::deque<std::pair<MonoNs, double>> captures_;  // when, processor seconds
  double captures_cores_ = 0;                       // that they took lately
  double sample_s_ = 3e-4;    // of a capture: until it is measured, 3 % of a core at 100 a second
  double samples_asked_ = 0;  // of captures since the last look
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_BUDGET_NODE_PLANNER_H_
