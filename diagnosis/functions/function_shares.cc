#include "diagnosis/functions/function_shares.h"

#include <algorithm>
#include <set>

namespace fathom::diagnosis {

bool WaitsInCollective(const RankStacks& stacks, const CapturedStack& stack) {
  return std::any_of(stack.frames.begin(), stack.frames.end(), [&](std::uint32_t at) {
    const std::string_view file = stacks.frames[at].file, name = stacks.frames[at].function;
    // As a profiler names the ops themselves.
    const bool op = file.empty() && (name.starts_with("c10d::") || name.starts_with("gloo:") ||
                                     name.starts_with("nccl:") || name == "record_param_comms");
    return op || file.ends_with("torch/distributed/distributed_c10d.py") ||
           file.ends_with("torch/distributed/c10d_logger.py") ||
           file.ends_with("torch/distributed/_functional_collectives.py");
  });
}

PlaceShares SharesOf(const RankStacks& stacks) {
  PlaceShares shares;
  if (stacks.samples == 0) return shares;
  for (const CapturedStack& stack : stacks.stacks) {
    if (WaitsInCollective(stacks, stack)) continue;
    const double share = static_cast<double>(stack.samples) / static_cast<double>(stacks.samples);
    std::set<Place> seen;
    double depth = 0;
    for (const std::uint32_t at : stack.frames) {
      const CapturedFrame& frame = stacks.frames[at];
      if (frame.internal) continue;
      for (const std::uint32_t line : {0u, frame.line}) {
        const Place place{frame.function, frame.file, line};
        if (!seen.insert(place).second) continue;
        PlaceShare& told = shares[place];
        told.whole += share;
        told.line = told.line || line == frame.line;
        told.depth += share * depth;
        if (depth == 0) told.own += share;
      }
      ++depth;
    }
  }
  for (auto& [place, told] : shares) told.depth /= told.whole;
  return shares;
}

}  // namespace fathom::diagnosis
