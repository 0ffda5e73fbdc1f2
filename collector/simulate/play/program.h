// What all ranks of a pipeline stage do in an iteration, as a list of steps.
//
// Built from model and plan; run by player.
//
// Model: as Megatron-LM issues it: the optimizer's step, then forward and backward passes of
// micro-batches in the order of the schedule (schedule.h), layer by layer with the collectives of
// the plan, messages between stages, gradients reduced behind the last backward pass, and an
// all-reduce of the gradient norm over all ranks, which ends the iteration. A backward pass costs
// twice a forward one.
//
// Units: seconds and bytes. Thread-safety: plain values and a pure function.
// Source: Megatron-LM (Narayanan et al., SC'21) for the collectives a layer; Zero Bubble (Qi et
// al., ICLR'24) for the split of the backward pass.
#ifndef FATHOM_COLLECTOR_SIMULATE_PLAY_PROGRAM_H_
#define FATHOM_COLLECTOR_SIMULATE_PLAY_PROGRAM_H_

#include <array>
#include <cstdint>
#include <vector>

#include "collector/simulate/play/layout.h"
#include "proto/types/collective_kind.h"

namespace fathom::simulate {

struct Step {
  enum class What : std::uint8_t {
    kCompute,
    kCollective,    // the computing stream waits for it
    kLaunch,        // runs beside computing
    kWaitLaunched,  // for all launched so far
    kSend,          // does not block
    kReceive,
    kWorld,  // the collective of all ranks that ends the iteration
  };
  What what = What::kCompute;
  Dimension dimension = Dimension::kWorld;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  bool expert = false;        // computing of experts: depends on routing
  bool towards_last = false;  // of a message: to the next stage, or from the one before
  double seconds = 0;         // computing, on a usual GPU
  double memory_share = 0;    // of it, bound by memory
  std::uint64_t bytes = 0;
  double hops = 0;    // latencies that a collective takes
  double volume = 0;  // bytes that a rank moves
  std::uint32_t micro_batch = 0;
  std::uint32_t slot = 0;      // of a message: which one
  std::uint32_t kernels = 0;   // that were launched since the op before
  std::uint32_t sequence = 0;  // place among the ops of its dimension in the iteration
};

struct Program {
  std::vector<Step> steps;
  std::array<std::uint32_t, kDimensions> ops{};  // a dimension, an iteration
};

// One program a stage.
std::vector<Program> BuildPrograms(const Scenario& scenario, const Layout& layout);

// Messages that a stage can get in an iteration: slots are below this.
std::uint32_t MessageSlots(const Scenario& scenario);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_PLAY_PROGRAM_H_
