#include "collector/cli/render/folded_stacks.h"

#include <algorithm>

#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

// The separator of the format stands for itself nowhere.
std::string Frame(std::string frame) {
  std::replace(frame.begin(), frame.end(), ';', ',');
  return frame;
}

}  // namespace

std::string FoldedStacks(const VerdictView& verdict) {
  std::string out;
  for (const StackView& stack : verdict.stacks) {
    if (stack.ranks.empty()) continue;
    AppendTo(&out, RankNames(stack.ranks));
    for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) {
      AppendTo(&out, ";", Frame(*frame));
    }
    AppendTo(&out, " ", stack.ranks.size(), "\n");
  }
  return out;
}

}  // namespace fathom::cli
