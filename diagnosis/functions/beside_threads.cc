#include "diagnosis/functions/beside_threads.h"

#include <algorithm>

#include "diagnosis/functions/compare.h"

namespace fathom::diagnosis {
namespace {

// The time is that of the training thread, each sample of which is one of all threads.
RankStacks BesideOf(const RankStacks& stacks) {
  RankStacks beside;
  beside.refused = stacks.refused;
  beside.source = stacks.source;
  beside.lasted = stacks.lasted;
  beside.samples = stacks.samples;
  beside.frames = stacks.frames;
  beside.stacks = stacks.beside_stacks;
  return beside;
}

}  // namespace

Detail LookBeside(const StackCapture& capture, RankId culprit, const std::vector<RankId>& peers,
                  const Detail& seen) {
  const auto mine = capture.ranks.find(culprit);
  if (seen.known() || mine == capture.ranks.end() || mine->second.beside_stacks.empty()) {
    return seen;
  }
  StackCapture beside;
  beside.at = capture.at;
  for (const auto& [rank, stacks] : capture.ranks) beside.ranks[rank] = BesideOf(stacks);
  Detail found = CompareFunctions(beside, culprit, peers, 0);
  if (!found.known()) return seen;
  found.beside = true;
  // Of several threads in one function each is a sample.
  found.where.share = std::min(1.0, found.where.share);
  return found;
}

}  // namespace fathom::diagnosis
