#include "collector/import/episode.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "collector/import/short_recording.h"
#include "diagnosis/stats/robust.h"

namespace fathom::collector {
namespace {

// Iterations of a window, for its first to be told from the others.
constexpr std::size_t kLeastOfWindow = 3;

struct Point {
  Iteration index;
  WallNs begin;
};

// Pairs (earlier, later) in which the later is higher; ties count half.
double RiseStatistic(const std::vector<double>& values, std::size_t cut) {
  double rises = 0;
  for (std::size_t i = 0; i < cut; ++i) {
    for (std::size_t j = cut; j < values.size(); ++j) {
      rises += values[j] > values[i] ? 1 : values[j] == values[i] ? 0.5 : 0;
    }
  }
  return rises;
}

// Number of orders of a earlier and b later values with exactly u rises, for all u, by the
// recursion on which of them is the highest.
double ExactTail(std::size_t earlier, std::size_t later, double rises) {
  const std::size_t most = earlier * later;
  // ways[a][u] for the present number of later values.
  std::vector<std::vector<double>> ways(earlier + 1, std::vector<double>(most + 1, 0.0));
  for (auto& of : ways) of[0] = 1;
  for (std::size_t b = 1; b <= later; ++b) {
    std::vector<std::vector<double>> next(earlier + 1, std::vector<double>(most + 1, 0.0));
    next[0][0] = 1;
    for (std::size_t a = 1; a <= earlier; ++a) {
      for (std::size_t u = 0; u <= a * b; ++u) {
        next[a][u] = next[a - 1][u] + (u >= a ? ways[a][u - a] : 0.0);
      }
    }
    ways = std::move(next);
  }
  double all = 0, tail = 0;
  for (std::size_t u = 0; u <= most; ++u) {
    all += ways[earlier][u];
    if (static_cast<double>(u) >= rises) tail += ways[earlier][u];
  }
  return tail / all;
}

double NormalTail(std::size_t earlier, std::size_t later, double rises) {
  const auto a = static_cast<double>(earlier), b = static_cast<double>(later);
  const double sigma = std::sqrt(a * b * (a + b + 1) / 12);
  return 0.5 * std::erfc((rises - a * b / 2 - 0.5) / sigma / std::sqrt(2.0));
}

// What the numbers of iterations that follow one another differ by: 1, unless steps were joined.
std::int64_t StrideOf(const std::vector<Point>& points) {
  std::int64_t stride = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const std::int64_t step = points[i].index.value - points[i - 1].index.value;
    if (stride == 0 || step < stride) stride = step;
  }
  return stride;
}

// Starting a profiler takes its time, and it shows in the first iteration of each of its windows.
// Where that took longest of its window, the others are in any order by chance alone as they were
// before, so the test holds.
void LeaveOutStarts(std::vector<Point>& points, std::vector<double>& values) {
  const std::int64_t stride = StrideOf(points);
  std::vector<Point> kept_points;
  std::vector<double> kept;
  for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    for (end = begin + 1; end < points.size(); ++end) {
      if (points[end].index.value > points[end - 1].index.value + stride) break;
    }
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = values.begin() + static_cast<std::ptrdiff_t>(end);
    const bool start = end - begin >= kLeastOfWindow && *std::max_element(from, to) <= *from;
    for (std::size_t i = begin + (start ? 1 : 0); i < end; ++i) {
      kept_points.push_back(points[i]);
      kept.push_back(values[i]);
    }
  }
  points = std::move(kept_points);
  values = std::move(kept);
}

}  // namespace

double ChanceOfRise(const std::vector<double>& values, std::size_t cut) {
  const std::size_t later = values.size() - cut;
  const double rises = RiseStatistic(values, cut);
  return values.size() <= kExactIterations ? ExactTail(cut, later, rises)
                                           : NormalTail(cut, later, rises);
}

diagnosis::Episode FindEpisode(const diagnosis::JobView& view,
                               const diagnosis::DiagnosisConfig& config) {
  std::vector<Point> points;
  std::vector<double> values;
  for (const auto& summary : view.window) {
    std::vector<double> seconds;
    for (const auto& rank : summary.ranks) seconds.push_back(rank.duration.Seconds());
    if (seconds.empty()) continue;
    points.push_back({summary.index, summary.begin});
    values.push_back(diagnosis::Median(std::move(seconds)));
  }
  LeaveOutStarts(points, values);
  const std::size_t n = values.size();
  if (n < kLeastBaseline + kLeastIrregular || n > kLongestLookBack) return {};
  double least = 1;
  std::size_t best = 0;
  for (std::size_t cut = kLeastBaseline; cut + kLeastIrregular <= n; ++cut) {
    const double chance = ChanceOfRise(values, cut);
    if (chance < least) least = chance, best = cut;
  }
  const auto cuts = static_cast<double>(n - kLeastBaseline - kLeastIrregular + 1);
  if (best == 0 || least * cuts >= kChance) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(best);
  const double before = diagnosis::Median({values.begin(), middle});
  const double after = diagnosis::Median({middle, values.end()});
  if (after < config.delta * before) return {};
  diagnosis::Episode episode;
  episode.onset = points[best].index;
  episode.onset_time = points[best].begin;
  episode.expected = Nanos::FromSeconds(before);
  episode.noise = Nanos::FromSeconds((after - before) / 2 / config.noise_factor);
  return episode;
}

}  // namespace fathom::collector
