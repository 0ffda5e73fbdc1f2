// The ops of a simulated job as a table, each with the truth: is it abnormal, or not?
//
// Used by `fathom simulate --operators`; tests/bench/operator_forest learns from it.
//
// Model: an op is abnormal when it takes longer than it would without the faults: the iteration is
// played a second time without them, from the same random numbers. So an op in which a rank waits
// for the culprit is abnormal, and the culprit's own, which finds the others waiting, is not.
//
//   iteration,iteration_us,rank,pattern,kind,bytes,place,elapsed_us,abnormal
//
// `pattern`: 0 tensor, 1 context, 2 expert, 3 data, 4 pipeline, 5 world; `place`: of the op among
// those of its rank in the iteration. Ops that never end are left out.
//
// Thread-safety: pure but for `write`. Cost: two iterations played an iteration; some 40 bytes an
// op and watched rank.
#ifndef FATHOM_COLLECTOR_SIMULATE_PLAY_OPERATOR_LOG_H_
#define FATHOM_COLLECTOR_SIMULATE_PLAY_OPERATOR_LOG_H_

#include <functional>
#include <string>

#include "collector/simulate/scenario/scenario.h"

namespace fathom::simulate {

// From how much longer on, both by ratio and in time.
inline constexpr double kAbnormalRatio = 1.25;
inline constexpr double kAbnormalUs = 20;

// Of at most `ranks` ranks: those at fault, and others evenly over the job. Gives lines to `write`,
// the heading first.
void WriteOperators(const Scenario& scenario, std::uint32_t ranks,
                    const std::function<void(const std::string&)>& write);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_PLAY_OPERATOR_LOG_H_
