#include "collector/import/episode.h"

#include <algorithm>
#include <cmath>

#include "collector/import/recorded_series.h"
#include "collector/import/short_recording.h"
#include "diagnosis/stats/robust.h"

namespace fathom::collector {
namespace {

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

}  // namespace

double ChanceOfRise(const std::vector<double>& values, std::size_t cut) {
  const std::size_t later = values.size() - cut;
  const double rises = RiseStatistic(values, cut);
  return values.size() <= kExactIterations ? ExactTail(cut, later, rises)
                                           : NormalTail(cut, later, rises);
}

diagnosis::Episode FindEpisode(const diagnosis::JobView& view,
                               const diagnosis::DiagnosisConfig& config) {
  const std::vector<RecordedIteration> points = RecordedSeries(view);
  std::vector<double> values;
  for (const RecordedIteration& point : points) values.push_back(point.seconds);
  const std::size_t n = values.size();
  const std::size_t earlier = diagnosis::kFewestForMedian, later = earlier;
  if (n < earlier + later || n > static_cast<std::size_t>(config.trailing_window())) return {};
  double least = 1;
  std::size_t best = 0;
  for (std::size_t cut = earlier; cut + later <= n; ++cut) {
    const double chance = ChanceOfRise(values, cut);
    if (chance < least) least = chance, best = cut;
  }
  const auto cuts = static_cast<double>(n - earlier - later + 1);
  if (best == 0 || least * cuts >= config.recorded_chance) return {};
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
