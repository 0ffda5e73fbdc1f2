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
  const double share = taken == 0 ? 0 : 1 / static_cast<double>(taken);
  return {MedianDuration(slot).Seconds(),
          sum.computing_s * share,
          sum.communication_s * share,
          sum.cores_s * share,
          sum.gc_s * share,
          sum.dataloader_s * share,
          diagnosis::SharesOf(issued_[slot])};
}

std::vector<std::pair<std::int64_t, diagnosis::IterationParts>> SummaryWindow::PartsAfter(
    std::int64_t after) const {
  std::vector<std::pair<std::int64_t, diagnosis::IterationParts>> out;
  for (const std::int64_t iteration : slots_.Sorted()) {
    if (iteration <= after || iteration > whole_) continue;
    out.emplace_back(iteration, PartsOf(*slots_.Find(iteration)));
  }
  return out;
}

}  // namespace fathom::collector
