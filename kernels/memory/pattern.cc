#include "kernels/memory/pattern.h"

#include <memory>
#include <string>
#include <vector>

#include "kernels/measure/digest.h"
#include "kernels/measure/workers.h"
#include "kernels/memory/pattern_word.h"

namespace fathom::kernels {
namespace {

constexpr std::size_t kMostOfOneCore = std::size_t{64} << 20;

struct Core {
  std::size_t wrong = 0;  // words
  std::size_t first = 0;  // place of the first of them
  std::uint64_t flipped = 0;
  double checked = 0;  // bytes
};

void Compare(Core& core, std::span<const std::uint64_t> words, std::uint32_t pattern,
             std::uint64_t round) {
  for (std::size_t i = words.size(); i-- > 0;) {
    const std::uint64_t flipped = words[i] ^ PatternWord(pattern, i, round);
    if (flipped == 0) continue;
    if (core.wrong++ == 0) core.first = i;
    core.flipped |= flipped;
  }
  core.checked += static_cast<double>(words.size_bytes());
}

Core CheckHere(const Bounds& bounds, std::size_t place, std::size_t bytes,
               const DisturbMemory& disturb) {
  Core core;
  const std::size_t count = bytes / sizeof(std::uint64_t);
  const auto memory = std::make_unique_for_overwrite<std::uint64_t[]>(count);
  const std::span<std::uint64_t> words(memory.get(), count);
  const double end = WallSeconds() + bounds.seconds;
  for (std::uint64_t turn = 0; turn == 0 || (WallSeconds() < end && !bounds.Stopped()); ++turn) {
    const auto pattern = static_cast<std::uint32_t>(turn % kMemoryPatterns);
    for (std::size_t i = 0; i < count; ++i) words[i] = PatternWord(pattern, i, turn);
    asm volatile("" : : "r"(words.data()) : "memory");  // the compiler must not know what it wrote
    if (disturb) disturb(place, words);
    Compare(core, words, pattern, turn);
  }
  return core;
}

}  // namespace

ProbeResult MemoryPattern(const Bounds& bounds, const DisturbMemory& disturb) {
  ProbeResult result;
  const std::size_t part = std::min(kMostOfOneCore, bounds.bytes / bounds.cpus.size());
  std::vector<Core> cores(bounds.cpus.size());
  RunOnCpus(bounds.cpus, [&](std::size_t i) { cores[i] = CheckHere(bounds, i, part, disturb); });
  double checked = 0;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    checked += cores[i].checked;
    if (cores[i].wrong == 0) continue;
    result.outcome = Outcome::kFaulty;
    if (!result.reason.empty()) result.reason += "; ";
    result.reason += std::to_string(cores[i].wrong) + " words of cpu" +
                     std::to_string(bounds.cpus[i]) + "'s part changed, first at byte " +
                     std::to_string(cores[i].first * sizeof(std::uint64_t)) + ", bits " +
                     HexOf(cores[i].flipped);
  }
  result.figures.push_back({.name = "memory_checked", .value = checked, .unit = "B"});
  return result;
}

}  // namespace fathom::kernels
