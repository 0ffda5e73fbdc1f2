#include "daemon/agent/pipeline/iteration/period_search.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace fathom::agent {
namespace {

using Keys = std::span<const TimedKey>;

// How many of the newest keys equal the one a lag before them, without a gap.
std::size_t MatchingRun(Keys keys, std::size_t lag) {
  std::size_t run = 0;
  for (std::size_t i = keys.size(); i-- > lag && keys[i].key == keys[i - lag].key;) ++run;
  return run;
}

std::size_t WarmUp(Keys keys) { return keys.size() / 4; }

// An op from outside the pattern that carries data and comes again and again.
bool Interrupted(Keys keys, std::size_t lag, std::uint64_t heavy_bytes) {
  struct Seen {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t count = 0;
  };
  absl::flat_hash_set<std::uint64_t> inside;
  for (const TimedKey& k : keys.last(lag)) inside.insert(k.key);
  absl::flat_hash_map<std::uint64_t, Seen> outside;
  for (std::size_t i = WarmUp(keys); i < keys.size(); ++i) {
    if (keys[i].bytes < heavy_bytes || inside.contains(keys[i].key)) continue;
    auto [it, fresh] = outside.try_emplace(keys[i].key, Seen{.first = i});
    it->second.last = i;
    ++it->second.count;
  }
  return std::any_of(outside.begin(), outside.end(), [&](const auto& entry) {
    const Seen& seen = entry.second;
    if (seen.count < 2) return false;
    const std::size_t gap = (seen.last - seen.first) / (seen.count - 1);
    return keys.size() - seen.last <= 2 * gap;  // it is due again; else that phase is over
  });
}

}  // namespace

double AgreementAtLag(Keys keys, std::size_t lag, std::size_t from) {
  std::size_t same = 0;
  std::size_t all = 0;
  for (std::size_t i = std::max(from, lag); i < keys.size(); ++i) {
    same += keys[i].key == keys[i - lag].key;
    ++all;
  }
  return all == 0 ? 0.0 : static_cast<double>(same) / static_cast<double>(all);
}

std::optional<std::size_t> FindPeriod(Keys keys, const PeriodRule& rule) {
  const std::size_t n = keys.size();
  std::size_t candidates = 0;
  for (std::size_t lag = rule.min_period; lag * (rule.repeats + 1) <= n; ++lag) {
    if (keys[n - 1].key != keys[n - 1 - lag].key) continue;
    if (++candidates > rule.max_candidates) return std::nullopt;
    const std::size_t run = MatchingRun(keys, lag);
    if (run < lag * rule.repeats) continue;
    if (AgreementAtLag(keys, lag, WarmUp(keys)) < rule.agreement) continue;
    if (Interrupted(keys, lag, rule.heavy_bytes)) continue;
    const std::int64_t span_ns = keys[n - 1].time_ns - keys[n - run - lag].time_ns;
    // Not a longer lag instead: every multiple of this one repeats as well.
    if (span_ns < rule.min_span_ns) return std::nullopt;
    return lag;
  }
  return std::nullopt;
}

}  // namespace fathom::agent
