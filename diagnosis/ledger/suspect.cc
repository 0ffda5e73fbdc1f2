#include "diagnosis/ledger/suspect.h"

#include <algorithm>
#include <map>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr double kAgree = 0.8;  // of those in which it shows, and of those in which it should

struct Shows {
  std::vector<std::int64_t> in;     // numbers of iterations in which it shows
  std::vector<std::int64_t> known;  // of all that lie between the first and the last of these
};

Shows ShowsOf(const Outlier& outlier, const std::vector<Iteration>& iterations) {
  Shows shows;
  for (std::size_t i = 0; i < outlier.in.size(); ++i) {
    if (outlier.in[i]) shows.in.push_back(iterations[i].value);
  }
  for (const Iteration& iteration : iterations) {
    const bool between = !shows.in.empty() && iteration.value >= shows.in.front() &&
                         iteration.value <= shows.in.back();
    if (between) shows.known.push_back(iteration.value);
  }
  return shows;
}

// The phase that most of those share in which it shows.
std::int64_t PhaseOf(const Shows& shows, std::int64_t period) {
  std::map<std::int64_t, std::size_t> count;
  for (const std::int64_t number : shows.in) ++count[number % period];
  return std::max_element(count.begin(), count.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

bool Fits(const Shows& shows, std::int64_t period) {
  const std::int64_t phase = PhaseOf(shows, period);
  const auto due = [&](std::int64_t number) { return number % period == phase; };
  const auto hits = static_cast<double>(std::count_if(shows.in.begin(), shows.in.end(), due));
  const auto all = static_cast<double>(std::count_if(shows.known.begin(), shows.known.end(), due));
  // That it rests between tells only who was looked at between.
  const double between = static_cast<double>(shows.known.size()) - all;
  return hits >= kFewestForMedian && between >= hits / 2 &&
         hits >= kAgree * static_cast<double>(shows.in.size()) && hits >= kAgree * all;
}

// 0: none. A hiccup of its own, or one occurrence that is hidden, does not end a period. The
// longest that fits: where few iterations are known between, shorter ones fit as well.
std::int64_t PeriodOf(const Shows& shows) {
  if (shows.in.size() < kFewestForMedian) return 0;
  const std::int64_t longest = (shows.in.back() - shows.in.front()) / 2;
  for (std::int64_t period = longest; period >= 2; --period) {
    if (Fits(shows, period)) return period;
  }
  return 0;
}

}  // namespace

void DateShare(const Outlier& outlier, const std::vector<Iteration>& iterations,
               AccountShare& share) {
  const Shows shows = ShowsOf(outlier, iterations);
  if (shows.in.empty()) return;
  share.since = Iteration(shows.in.front());
  share.until = Iteration(shows.in.back());
  if (outlier.lasting) {
    share.since = iterations[outlier.first];
    share.from_start = outlier.first <= 1;
    share.every = 0;
    return;
  }
  share.every = PeriodOf(shows);
  const std::int64_t before = shows.in.front() - iterations.front().value;
  share.from_start = before == 0 || (share.every > 0 && before < share.every);
}

}  // namespace fathom::diagnosis
