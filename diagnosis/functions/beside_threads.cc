#include "diagnosis/functions/beside_threads.h"

#include <algorithm>

#include "diagnosis/functions/other_stacks.h"

namespace fathom::diagnosis {
Detail LookBeside(const StackCapture& capture, RankId culprit, const std::vector<RankId>& peers,
                  const Detail& seen) {
  const auto mine = capture.ranks.find(culprit);
  if (seen.known() || mine == capture.ranks.end() || mine->second.beside_stacks.empty()) {
    return seen;
  }
  // The time is that of the training thread, each sample of which is one of all threads.
  constexpr OtherStacks kBeside{&RankStacks::beside_stacks, &RankStacks::samples};
  Detail found = CompareOthers(capture, kBeside, culprit, peers);
  if (!found.known()) return seen;
  found.beside = true;
  // Of several threads in one function each is a sample.
  found.where.share = std::min(1.0, found.where.share);
  return found;
}

}  // namespace fathom::diagnosis
