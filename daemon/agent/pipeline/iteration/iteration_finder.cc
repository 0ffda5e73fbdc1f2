#include "daemon/agent/pipeline/iteration/iteration_finder.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace fathom::agent {

IterationFinder::News IterationFinder::Take(const OpKey& key) {
  window_.push_back(key);
  if (!learning_) {
    Track(key);
    if (!learning_) {
      // A little history helps the next learning to see what broke the pattern.
      const std::size_t keep = 4 * rule_.relearn_misses;
      if (window_.size() > 2 * keep) window_.erase(window_.begin(), window_.end() - keep);
      return News::kNone;
    }
  }
  if (window_.size() > rule_.max_window) {
    window_.erase(window_.begin(), window_.begin() + rule_.max_window / 2);
    next_search_ = window_.size();
  }
  if (window_.size() < next_search_) return News::kNone;
  next_search_ = window_.size() + std::max<std::size_t>(8, window_.size() / 32);
  return Learn(rule_.period);
}

IterationFinder::News IterationFinder::LearnAtOnce(std::size_t min_period) {
  if (!learning_) return News::kNone;
  PeriodRule at_once = rule_.period;
  at_once.min_span_ns = 0;
  at_once.min_period = min_period;
  return Learn(at_once);
}

std::uint64_t IterationFinder::KeyIn(View view, const OpKey& key) const {
  return view == View::kSizeless ? key.sizeless : key.exact;
}

IterationFinder::News IterationFinder::Learn(const PeriodRule& period_rule) {
  for (const View view : {View::kExact, View::kWithoutRare, View::kSizeless}) {
    if (const News news = TryView(view, period_rule); !learning_) return news;
  }
  return News::kNone;
}

IterationFinder::News IterationFinder::TryView(View view, const PeriodRule& period_rule) {
  if (view == View::kSizeless && !SizesChange()) return News::kNone;
  absl::flat_hash_set<std::uint64_t> rare;
  if (view == View::kWithoutRare) rare = RareKeys();
  if (view == View::kWithoutRare && rare.empty()) return News::kNone;
  std::vector<TimedKey> keys;
  std::vector<const OpKey*> ops;
  for (const OpKey& op : window_) {
    if (rare.contains(op.exact)) continue;
    keys.push_back({KeyIn(view, op), op.bytes, op.time_ns});
    ops.push_back(&op);
  }
  PeriodRule rule = period_rule;
  // A stream without sizes repeats more easily by chance: ask for twice as much.
  if (view == View::kSizeless) rule.repeats *= 2;
  const std::optional<std::size_t> lag = FindPeriod(keys, rule);
  if (!lag.has_value()) return News::kNone;
  if (view == View::kWithoutRare && !RareEnough(rare, *lag)) return News::kNone;
  std::vector<OpKey> period;
  for (std::size_t i = ops.size() - *lag; i < ops.size(); ++i) period.push_back(*ops[i]);
  if (!HasNumbered(period)) {
    // Messages of micro-batches repeat as well, until a collective ends their iteration.
    const auto newer = window_.begin() + static_cast<std::ptrdiff_t>(window_.size() / 4);
    rule.repeats *= rule_.message_repeats;
    if (HasNumbered({newer, window_.end()}) || FindPeriod(keys, rule) != lag) return News::kNone;
  }
  return Adopt(view, std::move(period), std::move(rare));
}

bool IterationFinder::HasNumbered(std::span<const OpKey> ops) {
  return std::any_of(ops.begin(), ops.end(), [](const OpKey& key) { return key.numbered; });
}

absl::flat_hash_set<std::uint64_t> IterationFinder::RareKeys() const {
  struct Use {
    std::size_t count = 0;
    std::uint64_t bytes = 0;
  };
  absl::flat_hash_map<std::uint64_t, Use> uses;
  for (const OpKey& op : window_) {
    Use& use = uses[op.exact];
    ++use.count;
    use.bytes = op.bytes;
  }
  // What the median op's key counts, not the median key: start-up leaves many keys that came once.
  std::vector<std::size_t> counts;
  for (const OpKey& op : window_) counts.push_back(uses[op.exact].count);
  if (counts.empty()) return {};
  std::nth_element(counts.begin(), counts.begin() + counts.size() / 2, counts.end());
  const std::size_t usual = counts[counts.size() / 2];
  absl::flat_hash_set<std::uint64_t> rare;
  for (const auto& [key, use] : uses) {
    if (use.bytes <= rule_.light_bytes && use.count * rule_.rare_gap_periods <= usual) {
      rare.insert(key);
    }
  }
  return rare;
}

// Without sizes, ops of one kind on one group all look alike and repeat at any lag, long before a
// pattern of exact keys can have repeated often enough. So the sizes must be seen not to come
// again: most ops of the later half of a long window are new against its earlier half.
bool IterationFinder::SizesChange() const {
  if (window_.size() < rule_.sizeless_window) return false;
  const auto middle = window_.begin() + static_cast<std::ptrdiff_t>(window_.size() / 2);
  absl::flat_hash_set<std::uint64_t> earlier;
  for (auto it = window_.begin(); it != middle; ++it) earlier.insert(it->exact);
  const auto again = std::count_if(middle, window_.end(),
                                   [&](const OpKey& op) { return earlier.contains(op.exact); });
  return 2 * again < window_.end() - middle;
}

bool IterationFinder::RareEnough(const absl::flat_hash_set<std::uint64_t>& rare,
                                 std::size_t period) const {
  absl::flat_hash_map<std::uint64_t, std::size_t> counts;
  for (const OpKey& op : window_) {
    if (rare.contains(op.exact)) ++counts[op.exact];
  }
  // A period of one op says that everything else was left out.
  return period > 1 && std::all_of(counts.begin(), counts.end(), [&](const auto& entry) {
           return entry.second * rule_.rare_gap_periods * period <= window_.size();
         });
}

IterationFinder::News IterationFinder::Adopt(View view, std::vector<OpKey> period,
                                             absl::flat_hash_set<std::uint64_t> left_out) {
  std::optional<Anchor> anchor = ChooseAnchor(period, view == View::kSizeless);
  if (!anchor.has_value()) return News::kNone;
  learning_ = false;
  view_ = view;
  left_out_ = std::move(left_out);
  pattern_.clear();
  pattern_keys_.clear();
  for (const OpKey& op : period) {
    pattern_.push_back(KeyIn(view, op));
    pattern_keys_.insert(pattern_.back());
  }
  position_ = misses_ = clean_run_ = tracked_ = 0;
  ++times_learned_;
  const bool same = anchor_ == anchor;
  anchor_ = std::move(anchor);
  return same ? News::kNone : News::kLearned;
}

void IterationFinder::Track(const OpKey& key) {
  if (left_out_.contains(key.exact)) return;
  ++tracked_;
  if (pattern_[position_] != KeyIn(view_, key)) return Miss(key);
  position_ = (position_ + 1) % pattern_.size();
  if (++clean_run_ >= pattern_.size()) misses_ = 0;
}

void IterationFinder::Miss(const OpKey& key) {
  ++misses_;
  ++misses_total_;
  clean_run_ = 0;
  const std::uint64_t found = KeyIn(view_, key);
  const bool known = pattern_keys_.contains(found);
  if (known) {
    for (std::size_t step = 1; step <= pattern_.size(); ++step) {
      const std::size_t at = (position_ + step) % pattern_.size();
      if (pattern_[at] != found) continue;
      position_ = (at + 1) % pattern_.size();
      break;
    }
  }
  const bool young = tracked_ <= rule_.young_periods * pattern_.size();
  const bool proof = key.bytes >= rule_.period.heavy_bytes || (anchor_->messages && key.numbered);
  if (!known && young && proof) return Relearn(window_.size());
  if (misses_ >= rule_.relearn_misses) Relearn(2 * rule_.relearn_misses);
}

void IterationFinder::Relearn(std::size_t keep) {
  learning_ = true;
  if (window_.size() > keep) window_.erase(window_.begin(), window_.end() - keep);
  next_search_ = 0;
}

}  // namespace fathom::agent
