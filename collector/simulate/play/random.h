// Random numbers that depend only on what they are for, so that any iteration can be played again
// and any part of it in any order with the same outcome.
//
// Used by collector/simulate. Model: a key is mixed to 64 bits (the finaliser of MurmurHash3); a
// normal deviate is looked up by the upper bits in a table of quantiles, which cuts it at 3.7
// sigma; heavy tails are separate events.
//
// Thread-safety: pure functions; a LogNormal is built, then only read. Cost: some ns a number.
#ifndef FATHOM_COLLECTOR_SIMULATE_PLAY_RANDOM_H_
#define FATHOM_COLLECTOR_SIMULATE_PLAY_RANDOM_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace fathom::simulate {

constexpr std::uint64_t Mix(std::uint64_t key, std::uint64_t value) {
  std::uint64_t h = key ^ (value * 0x9e3779b97f4a7c15ULL + 0x632be59bd9b4e019ULL);
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdULL;
  h ^= h >> 33;
  h *= 0xc4ceb9fe1a85ec53ULL;
  return h ^ (h >> 33);
}

// In [0, 1).
constexpr double Uniform(std::uint64_t random) {
  return static_cast<double>(random >> 11) * 0x1.0p-53;
}

// exp(sigma × a normal deviate): around 1, never below 0.
class LogNormal {
 public:
  explicit LogNormal(double sigma);
  double At(std::uint64_t random) const { return values_[random >> (64 - kBits)]; }

 private:
  static constexpr int kBits = 12;
  std::array<double, std::size_t{1} << kBits> values_;
};

// The quantile of the standard normal. Requires: 0 < p < 1.
double NormalQuantile(double p);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_PLAY_RANDOM_H_
