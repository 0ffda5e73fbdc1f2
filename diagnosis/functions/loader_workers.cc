#include "diagnosis/functions/loader_workers.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "diagnosis/functions/other_stacks.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr double kOfExcess = 0.5;  // of it, that waits for the loader

double LoaderShare(const RankStacks& stacks) {
  if (stacks.samples == 0) return 0;
  std::uint64_t waits = 0;
  for (const CapturedStack& stack : stacks.stacks) {
    const bool inside =
        std::any_of(stack.frames.begin(), stack.frames.end(), [&](std::uint32_t at) {
          const std::string_view file = stacks.frames[at].file;
          return file.ends_with("torch/utils/data/dataloader.py");
        });
    if (inside) waits += stack.samples;
  }
  return static_cast<double>(waits) / static_cast<double>(stacks.samples);
}

bool WaitsForWorkers(const StackCapture& capture, RankId culprit, const std::vector<RankId>& peers,
                     const Detail& seen) {
  if (!seen.known()) return false;
  const RankStacks& mine = capture.ranks.at(culprit);
  if (mine.worker_samples == 0) return false;
  std::vector<double> usual;
  for (const RankId peer : peers) {
    const auto at = capture.ranks.find(peer);
    if (at != capture.ranks.end() && at->second.samples > 0) {
      usual.push_back(LoaderShare(at->second));
    }
  }
  if (usual.empty()) return false;
  const double beyond = LoaderShare(mine) - Median(std::move(usual));
  return beyond >= kOfExcess * (seen.where.share - seen.where.peers_share);
}

}  // namespace

Detail LookIntoWorkers(const StackCapture& capture, RankId culprit,
                       const std::vector<RankId>& peers, const Detail& seen) {
  if (!WaitsForWorkers(capture, culprit, peers, seen)) return seen;
  constexpr OtherStacks kWorkers{&RankStacks::worker_stacks, &RankStacks::worker_samples};
  Detail found = CompareOthers(capture, kWorkers, culprit, peers);
  if (!found.known()) return seen;
  found.in_workers = true;
  return found;
}

}  // namespace fathom::diagnosis
