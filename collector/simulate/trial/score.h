// Was the engine right? Its convictions against the faults of the scenario.
//
// Used by `fathom simulate`, the experiments and the scenario tests.
//
// Model: a conviction (established or supported) is right when its entity is the device that is at
// fault and its cause fits the fault; wide when its entity holds the device but others as well (the
// communicator of a slow NIC); wrong otherwise. Work that is unequal by design has no guilty
// device: a verdict on imbalance or regression is right, one on a device is wrong, none is an
// abstention. A healthy job is right when nobody was ever convicted.
//
// Thread-safety: pure functions.
#ifndef FATHOM_COLLECTOR_SIMULATE_TRIAL_SCORE_H_
#define FATHOM_COLLECTOR_SIMULATE_TRIAL_SCORE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/simulate/scenario/scenario.h"
#include "collector/simulate/trial/session.h"

namespace fathom::simulate {

enum class Mark : std::uint8_t { kRight, kWide, kAbstained, kWrong };

struct Score {
  Mark mark = Mark::kAbstained;    // of all that was ever said; the worst of it counts
  bool top1 = false;               // the first verdict of the last diagnosis is right
  bool all_found = false;          // every fault has a right verdict
  double slowdown = 1;             // of iterations in which a fault is active, by their means
  std::vector<std::string> wrong;  // subjects and sentences of the wrong ones
};

std::string_view ToString(Mark mark);

// Of one verdict.
Mark MarkOf(const Scenario& scenario, const diagnosis::Verdict& verdict);

Score ScoreOf(const Scenario& scenario, const Outcome& outcome);

// The truth in words: "slow_gpu at rank 5 (node-0000) since iteration 25".
std::string TruthOf(const Scenario& scenario);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_TRIAL_SCORE_H_
