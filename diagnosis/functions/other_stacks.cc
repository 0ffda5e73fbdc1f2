#include "diagnosis/functions/other_stacks.h"

#include "diagnosis/functions/compare.h"

namespace fathom::diagnosis {

Detail CompareOthers(const StackCapture& capture, const OtherStacks& which, RankId culprit,
                     const std::vector<RankId>& peers) {
  StackCapture others;
  others.at = capture.at;
  for (const auto& [rank, stacks] : capture.ranks) {
    RankStacks& own = others.ranks[rank];
    own.refused = stacks.refused;
    own.source = stacks.source;
    own.lasted = stacks.lasted;
    own.samples = stacks.*which.samples;
    own.frames = stacks.frames;
    own.stacks = stacks.*which.stacks;
  }
  return CompareFunctions(others, culprit, peers, 0);
}

}  // namespace fathom::diagnosis
