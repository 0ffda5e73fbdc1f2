// A job played again with other durations: what would a step have taken?
//
// Used by schedule/what_if, roles and the rules on schedules. Model: every op begins when all it
// needs has ended, at once: what lay between (launches, the data loader) is left out, and the
// difference to the recording is told (WhatIf::launch_slowdown). Computing takes its length;
// ops that are joined end their length after the last of them has begun. The length of recorded
// communication is what is left of it from then on: its transfer.
//
// Ideal lengths, one a kind of op for the whole job: the mean of computing, the median of
// communication, which is skewed by rare retries. All ops of a kind count as equal work, by design:
// what makes stages unequal shows as slowdown.
//
// Units: seconds. Thread-safety: immutable once made. Cost: a replay is O(ops + edges) over all
// lanes, some 2 ns an op and lane.
// Source: What-if Analysis (OSDI'25), section 3.
#ifndef FATHOM_DIAGNOSIS_SCHEDULE_REPLAY_H_
#define FATHOM_DIAGNOSIS_SCHEDULE_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/schedule/dependencies.h"
#include "diagnosis/schedule/schedule.h"

namespace fathom::diagnosis {

// A length for every op and lane, as Schedule lays them out.
using Lengths = std::vector<double>;

// When each op began and ended, in seconds from the start of its step; laid out as Lengths.
struct Timeline {
  std::vector<double> start_s;
  std::vector<double> end_s;
};

// Whether an op of this replica is meant.
using Chosen = std::function<bool(const PlannedOp& op, std::size_t replica)>;

class Replay {
 public:
  // None where the trace cannot be replayed; `missing` then says what it lacks.
  static std::optional<Replay> Of(const ScheduleTrace& trace, std::string& missing);

  const Schedule& schedule() const { return schedule_; }
  const Lengths& recorded() const { return recorded_; }
  const Lengths& ideal() const { return ideal_; }

  // Recorded lengths of the chosen ops, `others` for the rest. Requires: others.size() is right.
  Lengths Only(const Chosen& chosen, const Lengths& others) const {
    return Mixed(chosen, recorded_, others);
  }
  Lengths Mixed(const Chosen& chosen, const Lengths& those, const Lengths& others) const;

  Timeline Play(const Lengths& lengths) const;
  // How long each step takes.
  std::vector<double> StepTimes(const Lengths& lengths) const;
  // Their mean, from the step at index `from` on.
  double MeanStep(const Lengths& lengths, std::size_t from = 0) const;

  // The same of step times that are there. Requires: not empty.
  static double MeanOf(const std::vector<double>& steps, std::size_t from);

 private:
  Replay(Schedule schedule, Dependencies dependencies);
  // An op in the order of replay, with what it needs: needs_[first, last). What is joined ends when
  // the last of its group has begun, which is the same op in every replay.
  struct Move {
    std::uint32_t op = 0;
    std::uint32_t first = 0, last = 0;
    std::int32_t group = kNoGroup;  // whose begin it is
    bool completes = false;         // the group
  };
  void PutMoves();
  // `starts` may be null.
  void Run(const Lengths& lengths, std::vector<double>& ends, std::vector<double>* starts) const;
  // Ends of all ops of the group, whose begins stand in `ends`; `begin`: room for a lane each.
  void Finish(const OpGroup& group, const Lengths& lengths, std::vector<double>& begin,
              std::vector<double>& ends) const;
  void FindTransfers();
  void FindIdeal();

  Schedule schedule_;
  Dependencies dependencies_;
  std::vector<Move> moves_;
  std::vector<std::uint32_t> needs_;
  Lengths recorded_;
  Lengths ideal_;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SCHEDULE_REPLAY_H_
