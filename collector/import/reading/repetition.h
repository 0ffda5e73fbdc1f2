// Where a recording without step marks repeats itself: how many ops make one iteration, and which
// of them ends it.
//
// Used by the importers of Kineto traces and of NCCL's recorders, on ops that all ranks share.
//
// Model: the smallest period of the stretch around the middle of the recording, if the stretch
// covers half of it and holds kLeastPeriods periods. What comes before and after (start-up, the
// last evaluation) is left out. Nothing is tolerated inside: an op that was lost ends the stretch.
// An iteration ends with the op after which the ranks stay away longest, by their medians together:
// data, forward pass and optimizer lie there.
//
// Thread-safety: pure. Errors: no period is an answer.
// Cost: O(n + kLongestPeriod), more only where the middle repeats at several lags.
// Source: autocorrelation of op keys: Greyhound; exact repeats: EROICA.
#ifndef FATHOM_COLLECTOR_IMPORT_READING_REPETITION_H_
#define FATHOM_COLLECTOR_IMPORT_READING_REPETITION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace fathom::collector {

inline constexpr std::size_t kLeastPeriods = 4;
inline constexpr std::size_t kLongestPeriod = 8192;

struct Repetition {
  std::size_t period = 0;
  std::size_t begin = 0;  // [begin, end) repeats with that period
  std::size_t end = 0;
};

[[nodiscard]] std::optional<Repetition> FindPeriod(std::span<const std::uint64_t> keys);

// The first op of the stretch that ends an iteration. `gap`: from the end of op `op` of a line to
// the arrival at its next one, in any unit.
std::size_t FirstBorder(const Repetition& found, std::size_t lines,
                        const std::function<double(std::size_t line, std::size_t op)>& gap);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_READING_REPETITION_H_
