// Learns where the iterations of one rank begin and end, from nothing but its stream of ops.
//
// Fed by rank_pipeline with the key of every op in API order.
//
// Model: a state machine.
//
//   learning ──period found, confirmed, anchor chosen──► tracking ──200 misses, or an op that
//      ▲                                                    │        carries data and is new in a
//      └────────────────────────────────────────────────────┘        young pattern──► learning
//
// A job of messages alone is learned later than others: its period must repeat three times as
// often, and nothing that is numbered may have come for three quarters of the window.
//
// While learning again the old anchor stays in force. Three views of the stream are tried in turn:
// all ops exactly; without small ops that come rarely (a log line's all-reduce, a checkpoint's
// barrier); without sizes, where most sizes do not come again (sequence lengths that change). A job
// without a period never leaves `learning`: the finder abstains. In `tracking` each op is compared
// with the pattern; one that does not fit is a miss and the pattern is taken up again at the next
// op that does; a clean period forgives all misses.
//
// Thread-safety: single-threaded, owned by the poll loop. Deterministic: no clock of its own.
// Errors: none. Cost: tracking: one compare an op; learning: amortised some 100 compares an op,
//   window of at most kMaxWindow keys.
// Source: methods, section 1; K = 200: EROICA.
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_ITERATION_FINDER_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_ITERATION_FINDER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "daemon/agent/pipeline/iteration/anchor.h"
#include "daemon/agent/pipeline/iteration/op_key.h"
#include "daemon/agent/pipeline/iteration/period_search.h"

namespace fathom::agent {

struct FinderRule {
  PeriodRule period;
  std::size_t relearn_misses = 200;   // K
  std::size_t young_periods = 64;     // in these, a new op with data is proof of a wrong period
  std::uint64_t light_bytes = 4096;   // at most this: may be left out of the pattern if rare
  std::size_t rare_gap_periods = 4;   // a rare op comes at most once in so many periods
  std::size_t sizeless_window = 512;  // ops that must be seen before sizes are given up
  std::size_t message_repeats = 3;    // times as many, where messages alone tell the period
  std::size_t max_window = 32'768;    // keys kept while learning
};

class IterationFinder {
 public:
  explicit IterationFinder(FinderRule rule) : rule_(rule) {}

  enum class News : std::uint8_t {
    kNone,
    kLearned,  // a new anchor is in force; rows since the last boundary want to be labelled again
  };

  News Take(const OpKey& key);

  // The stream has ended: decide with what there is, without waiting for the span to fill.
  News Finish() { return LearnAtOnce(1); }
  // The stream has stopped for seconds, perhaps for good: as Finish, but a single op that repeats
  // is not taken for an iteration, because a long computation may lie between two bursts of it.
  News Pause() { return LearnAtOnce(2); }

  // In force; empty until first learned.
  const std::optional<Anchor>& anchor() const { return anchor_; }
  std::size_t period() const { return pattern_.size(); }  // ops an iteration; 0 while unknown
  bool learning() const { return learning_; }
  std::uint64_t times_learned() const { return times_learned_; }
  std::uint64_t misses_total() const { return misses_total_; }

 private:
  enum class View : std::uint8_t { kExact, kWithoutRare, kSizeless };

  News LearnAtOnce(std::size_t min_period);
  News Learn(const PeriodRule& period_rule);
  News TryView(View view, const PeriodRule& period_rule);
  static bool HasNumbered(std::span<const OpKey> ops);
  absl::flat_hash_set<std::uint64_t> RareKeys() const;
  bool SizesChange() const;
  bool RareEnough(const absl::flat_hash_set<std::uint64_t>& rare, std::size_t period) const;
  News Adopt(View view, std::vector<OpKey> period, absl::flat_hash_set<std::uint64_t> left_out);
  void Track(const OpKey& key);
  void Miss(const OpKey& key);
  void Relearn(std::size_t keep);
  std::uint64_t KeyIn(View view, const OpKey& key) const;

  const FinderRule rule_;
  bool learning_ = true;
  std::vector<OpKey> window_;
  std::size_t next_search_ = 0;  // window size at which to search again

  View view_ = View::kExact;
  std::vector<std::uint64_t> pattern_;
  absl::flat_hash_set<std::uint64_t> pattern_keys_;
  absl::flat_hash_set<std::uint64_t> left_out_;
  std::size_t position_ = 0;
  std::size_t clean_run_ = 0;
  std::size_t misses_ = 0;
  std::size_t tracked_ = 0;  // ops since learned
  std::optional<Anchor> anchor_;
  std::uint64_t times_learned_ = 0;
  std::uint64_t misses_total_ = 0;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_ITERATION_FINDER_H_
