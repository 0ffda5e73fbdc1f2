#include "daemon/agent/pipeline/iteration/anchor.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxContext = 16;

std::uint64_t Pick(const OpKey& key, bool sizeless) { return sizeless ? key.sizeless : key.exact; }

// What an op is in the context of an anchor of `group`.
std::uint64_t InContext(const OpKey& key, GroupId group, bool sizeless) {
  return key.group == group ? Pick(key, sizeless) : key.from_outside;
}

// Whether it may be an anchor, or lead to one.
bool Counts(const OpKey& key, bool messages) { return messages ? key.message : key.numbered; }

// Groups that can hold an anchor, best first: steps, synchronising ops, then size, then how often
// they are used (so that the ranks of a grid choose groups of one dimension), then id (so that all
// members go through the same order).
std::vector<GroupId> GroupsBySize(std::span<const OpKey> period, bool messages) {
  std::map<GroupId, std::tuple<bool, bool, std::uint32_t, std::size_t>> found;
  for (const OpKey& key : period) {
    if (!Counts(key, messages)) continue;
    auto& [step, synchronising, size, uses] = found[key.group];
    step |= key.step;
    synchronising |= key.synchronising;
    size = key.group_size;
    ++uses;
  }
  std::vector<GroupId> groups;
  for (const auto& entry : found) groups.push_back(entry.first);
  std::stable_sort(groups.begin(), groups.end(),
                   [&](GroupId a, GroupId b) { return found[a] > found[b]; });
  return groups;
}

// The ops of the group in the period that count.
std::vector<OpKey> OpsOf(GroupId group, std::span<const OpKey> period, bool messages) {
  std::vector<OpKey> ops;
  std::copy_if(period.begin(), period.end(), std::back_inserter(ops),
               [&](const OpKey& k) { return k.group == group && Counts(k, messages); });
  return ops;
}

// The shortest stretch of ops that ends in `key` and comes once in the cyclic sequence.
std::optional<std::vector<std::uint64_t>> UniqueContext(const std::vector<std::uint64_t>& cycle,
                                                        std::uint64_t key) {
  const std::size_t n = cycle.size();
  for (std::size_t length = 1; length <= std::min(kMaxContext, n); ++length) {
    std::map<std::vector<std::uint64_t>, int> seen;
    for (std::size_t end = 0; end < n; ++end) {
      if (cycle[end] != key) continue;
      std::vector<std::uint64_t> stretch(length);
      for (std::size_t i = 0; i < length; ++i) stretch[i] = cycle[(end + n - length + 1 + i) % n];
      ++seen[stretch];
    }
    for (const auto& [stretch, count] : seen) {
      if (count == 1) return stretch;
    }
  }
  return std::nullopt;
}

// Keys in the order in which they would make an anchor.
std::vector<std::uint64_t> Candidates(const std::vector<OpKey>& ops, bool sizeless) {
  struct Merit {
    bool loose = false;  // not synchronising, or sent
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    auto operator<=>(const Merit&) const = default;
  };
  std::map<std::uint64_t, Merit> merits;
  for (const OpKey& op : ops) {
    Merit& merit = merits[Pick(op, sizeless)];
    merit = {
        .loose = !op.synchronising && !op.receive, .count = merit.count + 1, .bytes = op.bytes};
  }
  std::vector<std::uint64_t> keys;
  for (const auto& entry : merits) keys.push_back(entry.first);
  std::stable_sort(keys.begin(), keys.end(), [&](auto a, auto b) { return merits[a] < merits[b]; });
  return keys;
}

// An anchor of the group: a key that one stretch of the period's ops, of the group or of all, leads
// to.
std::optional<Anchor> AnchorOf(GroupId group, std::span<const OpKey> period, const Anchor& kind) {
  const auto [sizeless, messages, across] = std::tuple(kind.sizeless, kind.messages, kind.across);
  const std::vector<OpKey> ops = OpsOf(group, period, messages);
  std::vector<std::uint64_t> cycle;
  for (const OpKey& op : period) {
    if (Counts(op, messages) && (across || op.group == group)) {
      cycle.push_back(InContext(op, group, sizeless));
    }
  }
  for (const std::uint64_t key : Candidates(ops, sizeless)) {
    auto context = UniqueContext(cycle, key);
    if (!context.has_value()) continue;
    Anchor found = kind;
    found.group = group;
    found.context = *std::move(context);
    return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Anchor> ChooseAnchor(std::span<const OpKey> period, bool sizeless) {
  const bool messages =
      std::none_of(period.begin(), period.end(), [](const OpKey& key) { return key.numbered; });
  const std::vector<GroupId> groups = GroupsBySize(period, messages);
  for (const bool across : {false, true}) {
    if (across && sizeless) break;
    for (const GroupId group : groups) {
      Anchor kind;
      kind.sizeless = sizeless;
      kind.messages = messages;
      kind.across = across;
      std::optional<Anchor> anchor = AnchorOf(group, period, kind);
      if (anchor.has_value()) return anchor;
    }
  }
  return std::nullopt;
}

bool AnchorMatcher::Take(const OpKey& key) {
  const bool own = key.group == anchor_.group;
  if (!Counts(key, anchor_.messages) || (!own && !anchor_.across)) return false;
  recent_.push_back(InContext(key, anchor_.group, anchor_.sizeless));
  if (recent_.size() > anchor_.context.size()) recent_.pop_front();
  return own &&
         std::equal(recent_.begin(), recent_.end(), anchor_.context.begin(), anchor_.context.end());
}

}  // namespace fathom::agent
