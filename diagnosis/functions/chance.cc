#include "diagnosis/functions/chance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

struct ShareChance {
  double variance = 0;     // of the share
  double independent = 0;  // so many things were drawn, about
};

// What lies so many normal deviates beyond chance, where so few things were drawn.
double Beyond(const ShareChance& chance, double sigmas) {
  if (chance.independent < 2) return std::numeric_limits<double>::infinity();
  const double degrees = chance.independent - 1;
  const double z = sigmas * (8 * degrees + 3) / (8 * degrees + 1);
  return std::sqrt(chance.variance * degrees * std::expm1(z * z / degrees));
}

bool Shows(const std::vector<bool>& shows, const CapturedRun& run) {
  return run.stack < shows.size() && shows[run.stack];
}

double SamplesIn(const std::vector<CapturedRun>& order) {
  double samples = 0;
  for (const CapturedRun& run : order) samples += static_cast<double>(run.samples);
  return samples;
}

// The share of each block.
std::vector<double> BlocksOf(const std::vector<CapturedRun>& order, const std::vector<bool>& shows,
                             std::size_t count) {
  const double length = SamplesIn(order) / static_cast<double>(count);
  std::vector<double> blocks(count, 0);
  double at = 0;
  for (const CapturedRun& run : order) {
    const double end = at + static_cast<double>(run.samples);
    while (at < end) {
      const auto block = std::min(static_cast<std::size_t>(at / length), count - 1);
      const double until =
          block + 1 == count ? end : std::min(end, length * static_cast<double>(block + 1));
      if (Shows(shows, run)) blocks[block] += (until - at) / length;
      if (until <= at) break;
      at = until;
    }
    at = end;
  }
  return blocks;
}

double Covariance(const std::vector<double>& blocks, double mean, std::size_t lag) {
  double sum = 0;
  for (std::size_t i = lag; i < blocks.size(); ++i) {
    sum += (blocks[i] - mean) * (blocks[i - lag] - mean);
  }
  return sum / static_cast<double>(blocks.size() - 1);
}

// Samples on end that show it, by their lengths.
std::vector<double> VisitsOf(const std::vector<CapturedRun>& order,
                             const std::vector<bool>& shows) {
  std::vector<double> visits;
  bool inside = false;
  for (const CapturedRun& run : order) {
    const bool shown = Shows(shows, run);
    if (shown && !inside) visits.push_back(0);
    if (shown) visits.back() += static_cast<double>(run.samples);
    inside = shown;
  }
  return visits;
}

// Each counting by its length: of one that holds nearly all, one.
double CountByLength(const std::vector<double>& visits) {
  double sum = 0, squares = 0;
  for (const double visit : visits) {
    sum += visit;
    squares += visit * visit;
  }
  return squares == 0 ? 0 : sum * sum / squares;
}

ShareChance ByBlocks(const std::vector<CapturedRun>& order, const std::vector<bool>& shows,
                     std::size_t count) {
  if (count < 2) return {std::numeric_limits<double>::infinity(), 0};
  const std::vector<double> blocks = BlocksOf(order, shows, count);
  const double mean = Mean(blocks), alone = Covariance(blocks, mean, 0);
  double together = alone;
  for (std::size_t lag = 1; lag + 1 < count; ++lag) {
    const double more = Covariance(blocks, mean, lag);
    if (more <= 0) break;
    together += 2 * more;
  }
  const auto drawn = static_cast<double>(count);
  const double independent = alone == 0 ? drawn : drawn * alone / together;
  return {together / drawn, std::min(independent, CountByLength(VisitsOf(order, shows)))};
}

// As many as there are iterations, where these are few.
std::size_t BlocksFor(double samples, double iterations) {
  constexpr double kLeastSamples = 4;  // of a block
  const double fit = samples / kLeastSamples;
  const double most = iterations > 0 ? std::min(fit, iterations) : fit;
  return std::min(kMostBlocks, static_cast<std::size_t>(most));
}

double ShareOf(const RankStacks& stacks, const std::vector<bool>& shows) {
  double samples = 0;
  for (std::size_t i = 0; i < stacks.stacks.size(); ++i) {
    if (shows[i]) samples += static_cast<double>(stacks.stacks[i].samples);
  }
  return samples / static_cast<double>(stacks.samples);
}

ShareChance ChanceOfOne(const RankStacks& stacks, const std::vector<bool>& shows, double share,
                        double iterations) {
  const auto samples = static_cast<double>(stacks.samples);
  const double least = std::max(0.0, share * (1 - share)) / samples;
  if (stacks.source.starts_with("trace")) return {least, samples};
  if (stacks.order.empty()) return {least * kTogether, samples / kTogether};
  const std::size_t count = BlocksFor(SamplesIn(stacks.order), iterations);
  ShareChance chance = ByBlocks(stacks.order, shows, count);
  chance.variance = std::max(chance.variance, least);
  return chance;
}

ShareChance ChanceOfPeers(const Compared& compared, const Place& place) {
  std::vector<double> shares, variances;
  double independent = 0;
  for (const RankStacks* each : compared.peers) {
    const std::vector<bool> shows = ShowsPlace(*each, place);
    shares.push_back(ShareOf(*each, shows));
    const ShareChance chance = ChanceOfOne(*each, shows, shares.back(), compared.iterations);
    variances.push_back(chance.variance);
    independent += chance.independent;
  }
  const double apart = MadSigma(shares, Median(shares));
  return {std::max(Mean(variances), apart * apart), independent};
}

// Of a difference, as Welch and Satterthwaite count what was drawn.
ShareChance Difference(const ShareChance& a, const ShareChance& b) {
  const auto part = [](const ShareChance& each) {
    constexpr double kLeast = 0.1;
    if (each.variance == 0) return 0.0;
    return each.variance * each.variance / std::max(each.independent - 1, kLeast);
  };
  const double parts = part(a) + part(b), both = a.variance + b.variance;
  return {both, parts == 0 ? a.independent : 1 + both * both / parts};
}

// Of a place to which no peer comes, whether as many visits may all have fallen on this rank.
bool MayHaveFallenOn(std::size_t ranks, std::size_t visits, double sigmas) {
  const double chance = std::erfc(sigmas / std::sqrt(2.0)) / 2;
  return static_cast<double>(visits) - 1 < -std::log(chance) / std::log(static_cast<double>(ranks));
}

// What visits that are far longer than most have beyond that.
double OfLongVisits(const std::vector<double>& visits, double samples) {
  constexpr double kFar = 4;
  const double usual = Median(visits);
  double beyond = 0;
  for (const double visit : visits) beyond += std::max(0.0, visit - kFar * usual);
  return beyond / samples;
}

// Nobody else comes there.
bool Alone(const Compared& compared, const Place& place) {
  return std::none_of(compared.peers.begin(), compared.peers.end(), [&](const RankStacks* each) {
    return ShareOf(*each, ShowsPlace(*each, place)) > 0;
  });
}

}  // namespace

bool BeyondChance(const Compared& compared, const Place& place, double excess,
                  const ChanceLimits& limits) {
  const std::vector<bool> shows = ShowsPlace(compared.mine, place);
  if (Alone(compared, place)) {
    const std::vector<double> visits = VisitsOf(compared.mine.order, shows);
    const double samples = SamplesIn(compared.mine.order);
    if (!MayHaveFallenOn(compared.peers.size() + 1, visits.size(), limits.sigmas) &&
        excess - OfLongVisits(visits, samples) >= limits.least_excess) {
      return true;
    }
  }
  const ShareChance mine =
      ChanceOfOne(compared.mine, shows, ShareOf(compared.mine, shows), compared.iterations);
  const ShareChance both = Difference(mine, ChanceOfPeers(compared, place));
  return excess >= Beyond(both, limits.sigmas);
}

}  // namespace fathom::diagnosis
