// Jobs drawn at random for the experiments: plans by scale and dimension, faults by kind and size.
//
// Used by the tables of the experiments, over gRPC too. Everything follows from the seed.
// Thread-safety: pure functions.
#ifndef FATHOM_COLLECTOR_SIMULATE_PLAY_DRAW_H_
#define FATHOM_COLLECTOR_SIMULATE_PLAY_DRAW_H_

#include <cstdint>

#include "collector/simulate/scenario/scenario.h"

namespace fathom::simulate {

// A healthy job of so many ranks. `dimensions`: 3 (TP, PP, DP), 4 (+ SP), 5 (+ CP), 6 (+ EP, with
// routing of tokens that varies). Requires: ranks a multiple of 128.
Scenario DrawJob(std::uint32_t ranks, int dimensions, std::uint64_t seed);

// The job that localising is timed on: 4-D, a GPU half as fast.
Scenario DrawCostJob(std::uint32_t ranks, std::uint64_t seed);

// A job of up to 1,024 ranks with drawn dimensions, each but data possibly absent.
Scenario DrawShape(std::uint64_t seed);

// A fault of the kind at a rank drawn from the seed. `factor`: how much longer the slow part takes;
// a pause lasts as long as it would add to an iteration.
Fault DrawFault(const Scenario& job, FaultKind kind, double factor, std::uint64_t seed);

// One of those that have a single guilty rank: GPU, memory, process, collection, batches.
FaultKind DrawRankKind(std::uint64_t seed);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_PLAY_DRAW_H_
