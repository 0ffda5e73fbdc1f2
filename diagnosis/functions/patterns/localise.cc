#include "diagnosis/functions/patterns/localise.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kBlock = 1024;  // so many workers stay in the nearest cache

// What a component is divided by, so that its range is 1.
float ScaleOf(const std::vector<float>& values, float floor) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const float range = values.empty() ? 0 : *high - *low;
  return 1 / std::max(range, floor);
}

struct Block {
  std::array<float, kBlock> beta, mu, sigma;
  std::array<std::uint32_t, kBlock> differs;
};

// Whole blocks, so that the loop has a length that is known.
void Fill(const PatternColumn& column, std::size_t from, const std::array<float, 3>& scale,
          Block& block) {
  const std::size_t count = std::min(kBlock, column.beta.size() - from);
  for (std::size_t i = 0; i < count; ++i) {
    block.beta[i] = column.beta[from + i] * scale[0];
    block.mu[i] = column.mu[from + i] * scale[1];
    block.sigma[i] = column.sigma[from + i] * scale[2];
  }
  block.differs.fill(0);
}

void Compare(const std::array<float, 3>& peer, float delta, Block& block) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    const float away = std::abs(block.beta[i] - peer[0]) + std::abs(block.mu[i] - peer[1]) +
                       std::abs(block.sigma[i] - peer[2]);
    block.differs[i] += away >= delta ? 1U : 0U;
  }
}

// The middle one; reorders.
double MedianOf(std::vector<std::uint32_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double Threshold(const std::vector<std::uint32_t>& differs, double spread) {
  std::vector<std::uint32_t> values = differs;
  const double median = MedianOf(values);
  for (std::uint32_t& each : values) {
    each = static_cast<std::uint32_t>(std::llround(std::abs(static_cast<double>(each) - median)));
  }
  return median + spread * std::max(1.0, MedianOf(values));
}

}  // namespace

std::vector<std::uint32_t> DifferencesOf(const PatternColumn& column,
                                         const LocaliseLimits& limits) {
  const std::size_t workers = column.beta.size();
  const std::array<float, 3> scale = {ScaleOf(column.beta, limits.floor),
                                      ScaleOf(column.mu, limits.floor),
                                      ScaleOf(column.sigma, limits.floor)};
  const std::size_t peers = std::min(limits.peers, workers);
  std::vector<std::array<float, 3>> drawn;
  for (std::size_t k = 0; k < peers; ++k) {
    const std::size_t at = k * workers / peers;
    drawn.push_back(
        {column.beta[at] * scale[0], column.mu[at] * scale[1], column.sigma[at] * scale[2]});
  }
  std::vector<std::uint32_t> differs(workers);
  Block block{};
  for (std::size_t from = 0; from < workers; from += kBlock) {
    Fill(column, from, scale, block);
    for (const auto& peer : drawn) Compare(peer, limits.delta, block);
    const std::size_t count = std::min(kBlock, workers - from);
    std::copy_n(block.differs.begin(), count, differs.begin() + static_cast<std::ptrdiff_t>(from));
  }
  return differs;
}

std::vector<OddPattern> Localise(const PatternColumn& column, const LocaliseLimits& limits) {
  const std::size_t workers = column.beta.size();
  std::vector<std::uint32_t> differs(workers, 0);
  const bool vote = workers >= limits.least_workers;
  if (vote) differs = DifferencesOf(column, limits);
  const double threshold = vote ? Threshold(differs, limits.spread) : 0;
  std::vector<OddPattern> odd;
  for (std::size_t i = 0; i < workers; ++i) {
    if (column.beta[i] <= limits.least_beta) continue;
    const bool host = column.of == FunctionClass::kHost;
    const float distance = host ? std::max(0.0F, column.beta[i] - limits.host_beta) : 0;
    const bool by_peers = vote && static_cast<double>(differs[i]) > threshold;
    if (distance <= 0 && !by_peers) continue;
    odd.push_back({static_cast<std::uint32_t>(i), distance, differs[i], by_peers});
  }
  return odd;
}

}  // namespace fathom::diagnosis
