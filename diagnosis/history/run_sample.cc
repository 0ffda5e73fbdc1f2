#include "diagnosis/history/run_sample.h"

#include <algorithm>
#include <cmath>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kBlocks = 5;  // of a stretch, for its noise

void Normalise(IssueShares& shares) {
  float sum = 0;
  for (const float share : shares) sum += share;
  for (float& share : shares) share = sum > 0 ? share / sum : 0;
}

// Iterations that follow one another are not independent: the medians of blocks tell what is left
// of the noise in the mean of many.
double BlockNoise(const std::vector<double>& durations) {
  const std::size_t length = durations.size() / kBlocks;
  if (length < 4) return 0;
  std::vector<double> blocks;
  for (std::size_t block = 0; block < kBlocks; ++block) {
    const auto from = durations.begin() + static_cast<std::ptrdiff_t>(block * length);
    blocks.push_back(Median({from, from + static_cast<std::ptrdiff_t>(length)}));
  }
  const double center = Median(blocks);
  return center > 0 ? MadSigma(blocks, center) / center : 0;
}

std::vector<double> QuantilesOf(std::vector<double> durations) {
  std::sort(durations.begin(), durations.end());
  std::vector<double> quantiles;
  for (std::size_t i = 0; i < Distribution::kQuantiles; ++i) {
    const double at = (static_cast<double>(i) + 0.5) / Distribution::kQuantiles *
                          static_cast<double>(durations.size()) -
                      0.5;
    const double low = std::clamp(std::floor(at), 0.0, static_cast<double>(durations.size() - 1));
    const auto index = static_cast<std::size_t>(low);
    const std::size_t next = std::min(index + 1, durations.size() - 1);
    const double share = std::clamp(at - low, 0.0, 1.0);
    quantiles.push_back(durations[index] + share * (durations[next] - durations[index]));
  }
  return quantiles;
}

double TrimmedMean(const std::vector<double>& quantiles) {
  const std::size_t cut = quantiles.size() / 10;
  double sum = 0;
  std::size_t taken = 0;
  for (std::size_t i = cut; i + cut < quantiles.size(); ++i, ++taken) sum += quantiles[i];
  return taken == 0 ? 0 : sum / static_cast<double>(taken);
}

template <typename Kept>
Distribution DistributionOf(const std::vector<Kept>& kept, std::int64_t end) {
  Distribution out;
  std::vector<double> durations, net;
  for (const Kept& each : kept) {
    if (each.iteration >= end) break;
    durations.push_back(each.parts.duration_s);
    net.push_back(each.parts.net_s());
    out.mean += each.parts;
  }
  if (durations.empty()) return out;
  out.count = static_cast<std::int64_t>(durations.size());
  out.mean = MeanOf(out.mean, durations.size());
  out.noise = BlockNoise(durations);
  out.net_s = TrimmedMean(QuantilesOf(std::move(net)));
  out.quantiles = QuantilesOf(std::move(durations));
  return out;
}

}  // namespace

double IterationParts::host_s() const {
  return std::max(0.0, duration_s - computing_s - gc_s - communication_s - cores_s);
}

double IterationParts::net_s() const { return std::max(0.0, duration_s - cores_s); }

IterationParts& IterationParts::operator+=(const IterationParts& each) {
  duration_s += each.duration_s;
  computing_s += each.computing_s;
  communication_s += each.communication_s;
  cores_s += each.cores_s;
  gc_s += each.gc_s;
  dataloader_s += each.dataloader_s;
  for (std::size_t i = 0; i < issued.size(); ++i) issued[i] += each.issued[i];
  void_between_s += each.void_known * each.void_between_s;
  void_within_s += each.void_known * each.void_within_s;
  void_known += each.void_known;
  for (std::size_t i = 0; i < flop.size(); ++i) flop[i] += each.flop_known * each.flop[i];
  flop_known += each.flop_known;
  return *this;
}

IterationParts MeanOf(const IterationParts& sum, std::size_t count) {
  const double by = std::max(1.0, static_cast<double>(count));
  const double told = sum.void_known > 0 ? sum.void_known : 1;
  const double seen = sum.flop_known > 0 ? sum.flop_known : 1;
  IterationParts mean;
  mean.duration_s = sum.duration_s / by;
  mean.computing_s = sum.computing_s / by;
  mean.communication_s = sum.communication_s / by;
  mean.cores_s = sum.cores_s / by;
  mean.gc_s = sum.gc_s / by;
  mean.dataloader_s = sum.dataloader_s / by;
  mean.issued = sum.issued;
  Normalise(mean.issued);
  mean.void_between_s = sum.void_between_s / told;
  mean.void_within_s = sum.void_within_s / told;
  mean.void_known = sum.void_known / by;
  for (std::size_t i = 0; i < sum.flop.size(); ++i) mean.flop[i] = sum.flop[i] / seen;
  mean.flop_known = sum.flop_known / by;
  return mean;
}

double Distribution::Location() const { return TrimmedMean(quantiles); }

double Distribution::Bulk() const {
  if (quantiles.size() <= kTail) return 0;
  double sum = 0;
  for (std::size_t i = 0; i + kTail < quantiles.size(); ++i) sum += quantiles[i];
  return sum / static_cast<double>(quantiles.size() - kTail);
}

double ShapeDistance(const Distribution& a, const Distribution& b) {
  std::size_t count = std::min(a.quantiles.size(), b.quantiles.size());
  if (count <= Distribution::kTail) return 0;
  count -= Distribution::kTail;
  const double shift = a.Location() - b.Location();
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += std::abs(a.quantiles[i] - b.quantiles[i] - shift);
  return sum / static_cast<double>(count);
}

void RunSample::Add(std::int64_t iteration, const IterationParts& parts) {
  if (iteration <= newest_) return;
  newest_ = iteration;
  if (iteration < kWarmUp) return;
  if (iteration < kStart) start_.push_back({iteration, parts});
  if (taken_++ % every_ != 0) return;
  thinned_.push_back({iteration, parts});
  if (thinned_.size() < kMostKept) return;
  for (std::size_t i = 0; i < thinned_.size() / 2; ++i) thinned_[i] = thinned_[2 * i];
  thinned_.resize(thinned_.size() / 2);
  every_ *= 2;
}

void RunSample::Skip(std::int64_t iteration) { newest_ = std::max(newest_, iteration); }

std::optional<Distribution> RunSample::Upto(std::int64_t end) const {
  if (newest_ + 1 < end) return std::nullopt;
  Distribution out = DistributionOf(start_, end);
  if (10 * out.count < 9 * (end - kWarmUp)) return std::nullopt;
  return out;
}

Distribution RunSample::Whole() const {
  Distribution out = DistributionOf(thinned_, newest_ + 1);
  if (out.known()) out.count = taken_;
  return out;
}

}  // namespace fathom::diagnosis
