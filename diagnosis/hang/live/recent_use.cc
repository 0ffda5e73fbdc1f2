#include "diagnosis/hang/live/recent_use.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace fathom::diagnosis {
namespace {

using Samples = std::vector<ProcessSample>;

std::uint64_t Grown(std::uint64_t from, std::uint64_t to) { return to - std::min(from, to); }

Nanos Grown(Nanos from, Nanos to) { return std::max(Nanos(), to - from); }

ProcessUse Between(const ProcessSample& from, const ProcessSample& to) {
  ProcessUse use{Grown(from.silent_for, to.silent_for),
                 Grown(from.cpu, to.cpu),
                 Grown(from.starved, to.starved),
                 Grown(from.io, to.io),
                 Grown(from.faults, to.faults),
                 {},
                 0};
  if (from.descendants_known && to.descendants_known) {
    use.descendants_cpu = Grown(from.descendants_cpu, to.descendants_cpu);
    use.descendants_io = Grown(from.descendants_io, to.descendants_io);
  }
  return use;
}

// The sample at which the window that ends at `last` begins.
std::size_t BeginOfWindow(const Samples& samples, std::size_t last, Nanos window) {
  std::size_t first = last;
  while (first > 0 && samples[last].silent_for - samples[first].silent_for < window) --first;
  return first;
}

// Descendants are looked at from some seconds into the silence on: as long as they are known.
ProcessUse WindowUpTo(const Samples& samples, std::size_t last, Nanos window) {
  const std::size_t first = BeginOfWindow(samples, last, window);
  ProcessUse use = Between(samples[first], samples[last]);
  std::size_t known = first;
  while (known < last && !samples[known].descendants_known) ++known;
  const ProcessUse below = Between(samples[known], samples[last]);
  if (known == first || below.over.count == 0) return use;
  const double scale = use.over.Seconds() / below.over.Seconds();
  use.descendants_cpu = Nanos::FromSeconds(below.descendants_cpu.Seconds() * scale);
  use.descendants_io =
      static_cast<std::uint64_t>(static_cast<double>(below.descendants_io) * scale);
  return use;
}

}  // namespace

ProcessUse RecentUse(const RankFacts& facts, const DiagnosisConfig& config) {
  if (facts.samples.size() >= 2) {
    return WindowUpTo(facts.samples, facts.samples.size() - 1, config.work_window);
  }
  return {facts.silent_for,
          facts.cpu_while_silent,
          facts.starved_while_silent,
          facts.io_while_silent,
          facts.faults_while_silent,
          {},
          0};
}

bool Works(const ProcessUse& use, const DiagnosisConfig& config) {
  return use.PerSecond(static_cast<double>(use.io)) >= config.work_bytes ||
         use.PerSecond(static_cast<double>(use.faults)) >= config.work_faults;
}

bool DescendantsWork(const ProcessUse& use, const DiagnosisConfig& config) {
  return use.PerSecond(use.descendants_cpu.Seconds()) >= config.descendants_ratio ||
         use.PerSecond(static_cast<double>(use.descendants_io)) >= config.work_bytes;
}

Nanos IdleFor(const RankFacts& facts, const DiagnosisConfig& config) {
  const Samples& samples = facts.samples;
  const auto works = [&](const ProcessUse& use) {
    return Works(use, config) || DescendantsWork(use, config);
  };
  for (std::size_t last = samples.size(); last-- > 1;) {
    // A window shows work for its whole length, so its last step must show it, too.
    if (!works(Between(samples[last - 1], samples[last]))) continue;
    if (!works(WindowUpTo(samples, last, config.work_window))) continue;
    return Grown(samples[last].silent_for, facts.silent_for);
  }
  return facts.silent_for;
}

}  // namespace fathom::diagnosis
