#include "collector/import/recorded_series.h"

#include <algorithm>
#include <utility>

#include "diagnosis/stats/robust.h"

namespace fathom::collector {
namespace {

using Series = std::vector<RecordedIteration>;

// Iterations of a window, for its first to be told from the others.
constexpr std::ptrdiff_t kLeastOfWindow = 3;

Series AllOf(const diagnosis::JobView& view) {
  Series series;
  for (std::size_t i = 0; i < view.window.size(); ++i) {
    const diagnosis::IterationSummary& summary = view.window[i];
    std::vector<double> seconds;
    for (const auto& rank : summary.ranks) seconds.push_back(rank.duration.Seconds());
    if (seconds.empty()) continue;
    series.push_back({i, summary.index, summary.begin, diagnosis::Median(std::move(seconds))});
  }
  return series;
}

// What the numbers of iterations that follow one another differ by: 1, unless steps were joined.
std::int64_t StrideOf(const Series& series) {
  std::int64_t stride = 0;
  for (std::size_t i = 1; i < series.size(); ++i) {
    const std::int64_t step = series[i].index.value - series[i - 1].index.value;
    if (stride == 0 || step < stride) stride = step;
  }
  return stride;
}

bool LongestFirst(Series::const_iterator begin, Series::const_iterator end) {
  return end - begin >= kLeastOfWindow &&
         std::all_of(begin + 1, end, [begin](const RecordedIteration& other) {
           return other.seconds <= begin->seconds;
         });
}

}  // namespace

Series RecordedSeries(const diagnosis::JobView& view) {
  const Series all = AllOf(view);
  const std::int64_t stride = StrideOf(all);
  Series kept;
  for (auto begin = all.begin(); begin != all.end();) {
    auto end = begin + 1;
    while (end != all.end() && end->index.value <= (end - 1)->index.value + stride) ++end;
    kept.insert(kept.end(), LongestFirst(begin, end) ? begin + 1 : begin, end);
    begin = end;
  }
  return kept;
}

}  // namespace fathom::collector
