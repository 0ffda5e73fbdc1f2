#include "kernels/cpu/spin.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/measure/machine.h"
#include "kernels/measure/samples.h"
#include "kernels/measure/workers.h"

namespace fathom::kernels {
namespace {

constexpr std::uint64_t kChain = 1 << 19;  // about a millisecond

struct Core {
  std::vector<double> rates;
  double waited_s = 0;
};

std::uint64_t Chain(std::uint64_t value) {
  for (std::uint64_t i = 0; i < kChain; ++i) {
    value = value * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(value));
  }
  return value;
}

Core SpinHere(const Bounds& bounds) {
  Core core;
  std::uint64_t value = 1;
  const double waited = ThreadWaitSeconds();
  core.rates =
      SliceRates(bounds, bounds.seconds, double{kChain}, [&value] { value = Chain(value); });
  core.waited_s = ThreadWaitSeconds() - waited;
  return core;
}

// The last third against the first: a core that gets too hot falls within the spin.
double HoldOf(const std::vector<double>& rates) {
  const auto third = static_cast<std::ptrdiff_t>(rates.size() / 3);
  if (third == 0) return 1;
  const double early = MedianOf({rates.begin(), rates.begin() + third});
  const double late = MedianOf({rates.end() - third, rates.end()});
  return early > 0 ? late / early : 1;
}

Figure Share(const char* name, double part, double whole) {
  return {.name = name,
          .value = whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0,
          .unit = "ratio",
          .less_is_better = true};
}

void TellCores(const Bounds& bounds, const std::vector<Core>& cores, ProbeResult& result) {
  std::vector<double> clocks;
  std::vector<double> holds;
  std::vector<double> spreads;
  for (const Core& core : cores) {
    clocks.push_back(MedianOf(core.rates));
    holds.push_back(HoldOf(core.rates));
    spreads.push_back(SpreadOf(core.rates));
  }
  const double usual = MedianOf(clocks);
  const auto slowest = std::min_element(clocks.begin(), clocks.end()) - clocks.begin();
  const auto fallen = std::min_element(holds.begin(), holds.end()) - holds.begin();
  const auto name = [&](std::ptrdiff_t i) {
    return "cpu" + std::to_string(bounds.cpus[static_cast<std::size_t>(i)]);
  };
  result.figures.push_back(
      {.name = "chain_rate", .value = usual, .spread = MedianOf(spreads), .unit = "1/s"});
  result.figures.push_back(
      {.name = "slowest_core",
       .where = name(slowest),
       .value = usual > 0 ? *std::min_element(clocks.begin(), clocks.end()) / usual : 1,
       .unit = "ratio"});
  result.figures.push_back({.name = "hold",
                            .where = name(fallen),
                            .value = *std::min_element(holds.begin(), holds.end()),
                            .unit = "ratio"});
}

}  // namespace

ProbeResult Spin(const Bounds& bounds) {
  ProbeResult result;
  std::vector<Core> cores(bounds.cpus.size());
  const LostTime before = LostTimeNow(bounds.cpus);
  const double begin = WallSeconds();
  RunOnCpus(bounds.cpus, [&](std::size_t i) { cores[i] = SpinHere(bounds); });
  const double whole = (WallSeconds() - begin) * static_cast<double>(cores.size());
  const LostTime after = LostTimeNow(bounds.cpus);
  TellCores(bounds, cores, result);
  const double throttled = after.throttled_s - before.throttled_s;
  double waited = 0;
  for (const Core& core : cores) waited += core.waited_s;
  result.figures.push_back(Share("throttled", throttled, whole));
  result.figures.push_back(Share("stolen", after.stolen_s - before.stolen_s, whole));
  // A thread that its quota holds back stands in the run queue as well.
  result.figures.push_back(Share("waited", waited - throttled, whole));
  return result;
}

}  // namespace fathom::kernels
