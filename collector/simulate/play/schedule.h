// The order in which a pipeline stage does its passes: 1F1B, interleaved 1F1B, zero bubble (H1).
//
// Used by program. Model: a pass is a forward, a backward, or (zero bubble) the part of a backward
// that makes gradients of weights, of one micro-batch on one chunk of layers.
// Thread-safety: pure function.
// Source: Narayanan et al., SC'21 (1F1B, interleaved); Qi et al., ICLR'24 (ZB-H1).
#ifndef FATHOM_COLLECTOR_SIMULATE_PLAY_SCHEDULE_H_
#define FATHOM_COLLECTOR_SIMULATE_PLAY_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "collector/simulate/scenario/scenario.h"

namespace fathom::simulate {

struct Pass {
  enum class What : std::uint8_t { kForward, kBackward, kWeights };
  What what = What::kForward;
  std::uint32_t micro_batch = 0;
  std::uint32_t chunk = 0;
};

// Of the given stage, in order.
std::vector<Pass> PassesOf(const Scenario& scenario, std::uint32_t stage);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_PLAY_SCHEDULE_H_
