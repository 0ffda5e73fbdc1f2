#include "collector/job/summaries/learnt.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace fathom::collector {
namespace {

constexpr double kPassedShare = 0.2;  // of the iterations that must have passed, to either side
constexpr double kFew = 2;

// The iteration that began when `begin` was, to half of its duration; null if none did.
const diagnosis::PastIteration* BegunAt(const Learnt& learnt, WallNs begin) {
  const auto at =
      std::find_if(learnt.past.begin(), learnt.past.end(), [&](const diagnosis::PastIteration& it) {
        return 2 * std::abs((begin - it.begin).count) < it.duration.count;
      });
  return at == learnt.past.end() ? nullptr : &*at;
}

// By so much the window's numbers of iterations are above those of `learnt`.
std::int64_t ShiftTo(const Learnt& learnt, const std::vector<diagnosis::IterationSummary>& window) {
  const diagnosis::IterationSummary& first = window.front();
  const diagnosis::PastIteration& last = learnt.past.back();
  const bool goes_on = first.index > last.index;
  for (const diagnosis::IterationSummary& it : window) {
    // Of numbers behind the last one a clock that was set back says so too.
    const auto* same = goes_on ? nullptr : BegunAt(learnt, it.begin);
    if (same != nullptr) return it.index.value - same->index.value;
  }
  const std::int64_t behind = first.index.value - last.index.value;
  if (first.begin < last.begin || last.duration <= Nanos(0)) return goes_on ? 0 : behind - 1;
  const double passed = (first.begin - last.begin).Seconds() / last.duration.Seconds();
  const double shift = static_cast<double>(behind) - passed;
  const bool as_before = shift <= std::max(kFew, kPassedShare * passed);
  return goes_on && as_before ? 0 : std::llround(shift);
}

}  // namespace

std::optional<Learnt> Renumbered(const Learnt& learnt,
                                 const std::vector<diagnosis::IterationSummary>& window) {
  if (learnt.past.empty()) return std::nullopt;
  const std::int64_t shift = ShiftTo(learnt, window);
  Learnt out = learnt;
  for (auto& it : out.past) it.index.value += shift;
  std::erase_if(out.past, [](const auto& it) { return it.index.value < 0; });
  std::int64_t& onset = out.episode.onset.value;
  if (onset >= 0) onset = std::max<std::int64_t>(0, onset + shift);
  return out;
}

}  // namespace fathom::collector
