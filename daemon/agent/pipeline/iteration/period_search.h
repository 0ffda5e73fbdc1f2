// Finds the period of a stream of op keys: how many ops make one iteration.
//
// Used by iteration_finder while it is learning.
//
// Model: the smallest lag p at which the newest `repeats` periods repeat exactly, the newest three
// quarters of the window agree with themselves at lag p to at least `agreement`, and no op that
// carries data keeps interrupting the pattern from outside. The last condition tells micro-batches
// (their period is broken by the gradients' all-reduce) from iterations. Runs of equal ops within
// one iteration are kept out by `min_span_ns`, which the unbroken repeats must cover.
//
// Units: keys in API order, oldest first; times CLOCK_MONOTONIC ns.
// Thread-safety: pure. Errors: no period is an answer.
// Cost: O(window × candidate lags) at worst, with a limit on candidates; most fail at once.
// Source: autocorrelation with agreement ≥ 0.95: Greyhound; M = 10 repeats: EROICA. Theirs is one
//   lag and one signature; the interruption rule and the span are ours.
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_PERIOD_SEARCH_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_PERIOD_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fathom::agent {

struct PeriodRule {
  std::size_t repeats = 10;                  // M
  double agreement = 0.95;                   // of the window with itself at the lag
  std::int64_t min_span_ns = 1'000'000'000;  // the repeats last at least this long
  std::size_t min_period = 1;                // shorter lags are not looked at
  std::size_t max_candidates = 256;          // lags looked at in one search
  std::uint64_t heavy_bytes = 64 * 1024;     // an op that carries data
};

struct TimedKey {
  std::uint64_t key = 0;
  std::uint64_t bytes = 0;
  std::int64_t time_ns = 0;
};

[[nodiscard]] std::optional<std::size_t> FindPeriod(std::span<const TimedKey> keys,
                                                    const PeriodRule& rule);

// Share of positions in [from, size) where keys[i] == keys[i - lag]. 0 if there are none.
double AgreementAtLag(std::span<const TimedKey> keys, std::size_t lag, std::size_t from);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_PERIOD_SEARCH_H_
