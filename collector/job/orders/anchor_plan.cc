#include "collector/job/orders/anchor_plan.h"

#include <algorithm>
#include <cmath>

namespace fathom::collector {
namespace {

constexpr double kLeadSeconds = 1.5;
constexpr std::int64_t kLeadIterations = 3;
constexpr double kPatience = 4;  // × the time it should take
constexpr Nanos kPatienceFloor{20'000'000'000};

}  // namespace

std::map<GroupId, SummaryWindow::Anchor> NewestAnchors(const RankTable& ranks,
                                                       const SummaryWindow& window) {
  std::map<GroupId, SummaryWindow::Anchor> newest;
  for (const auto& [rank, state] : ranks.ranks()) {
    const auto anchor = window.AnchorOf(rank);
    if (!anchor) continue;
    SummaryWindow::Anchor& best = newest[anchor->group];
    const std::uint64_t step = std::max(best.step, anchor->step);
    if (anchor->iteration > best.iteration) best = *anchor;
    best.step = step;
  }
  return newest;
}

std::uint64_t SequenceAt(const SummaryWindow::Anchor& anchor, std::int64_t iteration) {
  return anchor.sequence + static_cast<std::uint64_t>(iteration - anchor.iteration) * anchor.step;
}

std::int64_t LeadIterations(Nanos iteration_time) {
  const double lead = std::ceil(kLeadSeconds / iteration_time.Seconds());
  return std::max<std::int64_t>(kLeadIterations, std::llround(lead));
}

Nanos PatienceFor(std::int64_t iterations, Nanos iteration_time) {
  const double expected = static_cast<double>(iterations) * iteration_time.Seconds();
  return std::max(kPatienceFloor, Nanos::FromSeconds(kPatience * expected));
}

}  // namespace fathom::collector
