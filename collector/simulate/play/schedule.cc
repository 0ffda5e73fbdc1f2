#include "collector/simulate/play/schedule.h"

#include <algorithm>

namespace fathom::simulate {
namespace {

// The n-th forward pass of an interleaved schedule; backward passes go through the chunks from the
// last.
Pass Interleaved(const Scenario& s, std::uint32_t n, Pass::What what) {
  const std::uint32_t stages = s.plan.pipeline, chunks = s.plan.virtual_stages;
  const std::uint32_t round = n / (stages * chunks), chunk = n % (stages * chunks) / stages;
  const bool forward = what == Pass::What::kForward;
  return {what, round * stages + n % stages, forward ? chunk : chunks - 1 - chunk};
}

std::uint32_t WarmUp(const Scenario& s, std::uint32_t stage) {
  const std::uint32_t after = s.plan.pipeline - 1 - stage;
  const std::uint32_t all = s.model.micro_batches * s.plan.virtual_stages;
  if (s.plan.schedule != Schedule::kInterleaved) return std::min(all, after);
  return std::min(all, after * 2 + (s.plan.virtual_stages - 1) * s.plan.pipeline);
}

}  // namespace

std::vector<Pass> PassesOf(const Scenario& s, std::uint32_t stage) {
  const std::uint32_t all = s.model.micro_batches * s.plan.virtual_stages;
  const std::uint32_t warm_up = WarmUp(s, stage);
  const bool split = s.plan.schedule == Schedule::kZeroBubble;
  std::vector<Pass> passes;
  std::uint32_t weights = 0;
  for (std::uint32_t n = 0; n < all + warm_up; ++n) {
    if (n < all) passes.push_back(Interleaved(s, n, Pass::What::kForward));
    if (n < warm_up) continue;
    const std::uint32_t backward = n - warm_up;
    passes.push_back(Interleaved(s, backward, Pass::What::kBackward));
    // Gradients of weights fill the bubble: a stage is as far behind with them as it is deep.
    if (split && backward >= stage) {
      passes.push_back(Interleaved(s, weights++, Pass::What::kWeights));
    }
  }
  while (split && weights < all) {
    passes.push_back(Interleaved(s, weights++, Pass::What::kWeights));
  }
  return passes;
}

}  // namespace fathom::simulate
