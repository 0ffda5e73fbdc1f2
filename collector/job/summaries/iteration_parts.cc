// The part of SummaryWindow that says where whole iterations went, mean over the ranks.
#include <algorithm>

#include "collector/job/summaries/summary_window.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kMostRanks = 1024;  // more add nothing to a mean

void AddTo(const diagnosis::RankIteration& row, diagnosis::IterationParts& sum) {
  sum.computing_s += std::max(Nanos(0), row.cpu - row.gc).Seconds();
  sum.communication_s += row.blocked.Seconds();
  sum.cores_s += row.runqueue.Seconds();
  sum.gc_s += row.gc.Seconds();
  sum.dataloader_s += row.dataloader.Seconds();
  sum.void_between_s += row.void_between.Seconds();
  sum.void_within_s += row.void_within.Seconds();
  if (row.void_between.count > 0) ++sum.void_known;
  if (row.mega_flop > 0) ++sum.flop_known;
}

}  // namespace

diagnosis::IterationParts SummaryWindow::PartsOf(std::size_t slot) const {
  diagnosis::IterationParts sum;
  const std::size_t every = entries_.size() / kMostRanks + 1;
  std::size_t place = 0, taken = 0;
  for (const auto& [rank, entry] : entries_) {
    if (place++ % every != 0 || !entry.window->Has(slot)) continue;
    AddTo(entry.window->Get(slot), sum);
    ++taken;
  }
  diagnosis::IterationParts mean = diagnosis::MeanOf(sum, taken);
  mean.duration_s = MedianDuration(slot).Seconds();
  mean.issued = diagnosis::SharesOf(sums_[slot].issued);
  mean.void_known = sum.void_known > 0 ? 1 : 0;
  // The sums are of all ranks, those that were passed over too.
  const double ranks = sum.flop_known * static_cast<double>(every);
  for (std::size_t i = 0; i < kFlopClasses && ranks > 0; ++i) {
    mean.flop[i] = sums_[slot].flop[i] / ranks;
  }
  mean.flop_known = ranks > 0 ? 1 : 0;
  return mean;
}

std::vector<std::pair<std::int64_t, diagnosis::IterationParts>> SummaryWindow::PartsAfter(
    std::int64_t after) const {
  std::vector<std::pair<std::int64_t, diagnosis::IterationParts>> out;
  for (const auto& kept : parts_) {
    if (kept.first > after && !slots_.Find(kept.first)) out.push_back(kept);
  }
  for (const std::int64_t iteration : slots_.Sorted()) {
    if (iteration <= after || iteration > whole_) continue;
    out.emplace_back(iteration, PartsOf(*slots_.Find(iteration)));
  }
  // An iteration that an episode pins stays among the slots.
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return out;
}

}  // namespace fathom::collector
