#include "diagnosis/graph/wait_for.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "diagnosis/model/lookup.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kRingStarts = 64;
constexpr std::size_t kOpenOpsTold = 16;  // of a rank, by its agent; more may be open

bool Halted(const RankFacts& facts) {
  return facts.state == ProcessState::kGone || facts.state == ProcessState::kZombie ||
         facts.state == ProcessState::kStopped || facts.state == ProcessState::kTraced ||
         facts.frozen;
}

std::optional<std::uint64_t> Entered(const RankFacts& facts, GroupId group) {
  for (const GroupProgress& progress : facts.groups) {
    if (progress.group == group) return progress.entered;
  }
  // It says how far it is elsewhere, and nothing of this group: it has entered nothing there.
  if (!facts.groups.empty()) return 0;
  return std::nullopt;
}

// How many ops a waiter has entered up to and including `sequence`, by its own count.
std::optional<std::uint64_t> EnteredUpTo(const RankFacts& waiter, GroupId group,
                                         Sequence sequence) {
  auto entered = Entered(waiter, group);
  if (!entered) return std::nullopt;
  std::uint64_t later = 0;
  for (const OpenOp& op : waiter.open_ops) {
    if (op.group == group && op.sequence != kNoSequence && op.sequence > sequence) ++later;
  }
  return *entered >= later ? std::optional<std::uint64_t>(*entered - later) : std::nullopt;
}

std::vector<RankId> MembersOf(const JobView& view, GroupId id) {
  const Group* group = FindGroup(view, id);
  if (group == nullptr) return {};
  if (!group->members.empty()) return group->members;
  if (group->size != view.world_size) return {};
  std::vector<RankId> all;
  for (std::uint32_t r = 0; r < view.world_size; ++r) all.push_back(RankId(r));
  return all;
}

void SortMembers(const JobView& view, StuckInstance& instance) {
  const RankFacts* waiter = FactsOf(view, instance.inside.begin()->first);
  const auto needed = EnteredUpTo(*waiter, instance.group, instance.sequence);
  for (RankId member : MembersOf(view, instance.group)) {
    if (instance.inside.contains(member)) continue;
    const RankFacts* facts = FactsOf(view, member);
    const auto has = facts == nullptr ? std::nullopt : Entered(*facts, instance.group);
    if (facts != nullptr && Halted(*facts)) {
      instance.missing.push_back(member);
    } else if (!needed || !has || !facts->agent_reachable) {
      instance.unknown.push_back(member);
    } else if (*has < *needed) {
      instance.missing.push_back(member);
    }
  }
}

void AddCollectives(const JobView& view, Nanos stuck_after, WaitFor& out) {
  std::map<std::pair<GroupId, Sequence>, std::map<RankId, OpenOp>> entered;
  std::set<std::pair<GroupId, Sequence>> stuck;
  for (const RankFacts& facts : view.ranks) {
    for (const OpenOp& op : facts.open_ops) {
      if (IsPointToPoint(op.kind)) continue;
      entered[{op.group, op.sequence}].emplace(facts.rank, op);
      const bool of_now = facts.agent_reachable;  // it may have come out since
      if (of_now && op.age >= stuck_after) stuck.insert({op.group, op.sequence});
    }
  }
  for (const auto& [group, sequence] : stuck) {
    StuckInstance instance{group, sequence, std::move(entered[{group, sequence}]), {}, {}, {}};
    SortMembers(view, instance);
    instance.held_by = instance.missing;
    for (const auto& [waiter, op] : instance.inside) {
      out.waiting.insert(waiter);
      out.inside_of[waiter].push_back(out.instances.size());
      if (Halted(*FactsOf(view, waiter))) instance.held_by.push_back(waiter);
    }
    out.instances.push_back(std::move(instance));
  }
}

bool Answers(const RankFacts& peer, RankId waiter, CollectiveKind wanted) {
  return std::any_of(peer.open_ops.begin(), peer.open_ops.end(),
                     [&](const OpenOp& op) { return op.kind == wanted && op.peer == waiter; });
}

// Whether the rank has done nothing since it entered the op.
bool IsHeldBy(const OpenOp& op, const RankFacts& facts, Nanos message_gap) {
  return op.kind == CollectiveKind::kRecv || op.age <= facts.silent_for + message_gap;
}

void AddMessage(const JobView& view, const RankFacts& facts, const OpenOp& op, WaitFor& out) {
  out.waiting.insert(facts.rank);
  const RankFacts* peer = FactsOf(view, op.peer);
  if (peer == nullptr) return;
  const bool receives = op.kind == CollectiveKind::kRecv;
  const CollectiveKind wanted = receives ? CollectiveKind::kSend : CollectiveKind::kRecv;
  const bool answered = Answers(*peer, facts.rank, wanted);
  out.messages.push_back({facts.rank, op, answered});
  const bool known = receives || peer->open_ops.size() < kOpenOpsTold;
  if (Halted(*peer) || (!answered && known)) out.unanswered[facts.rank].insert(op.peer);
}

void AddMessages(const JobView& view, Nanos stuck_after, Nanos message_gap, WaitFor& out) {
  for (const RankFacts& facts : view.ranks) {
    if (!facts.agent_reachable) continue;
    for (const OpenOp& op : facts.open_ops) {
      if (!IsPointToPoint(op.kind) || op.age < stuck_after) continue;
      if (IsHeldBy(op, facts, message_gap)) AddMessage(view, facts, op, out);
    }
  }
}

// Calls `visit` for each rank that `waiter` waits for. An instance in `seen` is left out, others
// are added to it: who came by it before has visited those.
template <typename Visit>
void ForEachAwaited(const WaitFor& graph, RankId waiter, std::set<std::size_t>* seen,
                    const Visit& visit) {
  if (const auto at = graph.inside_of.find(waiter); at != graph.inside_of.end()) {
    for (const std::size_t i : at->second) {
      if (seen != nullptr && !seen->insert(i).second) continue;
      for (const RankId other : graph.instances[i].held_by) {
        if (other != waiter) visit(other);
      }
    }
  }
  if (const auto at = graph.unanswered.find(waiter); at != graph.unanswered.end()) {
    for (const RankId other : at->second) visit(other);
  }
}

bool WaitsForSomebody(const WaitFor& graph, RankId rank) {
  bool waits = false;
  ForEachAwaited(graph, rank, nullptr, [&](RankId) { waits = true; });
  return waits;
}

// The shortest way from `start` back to it, breadth first; empty if there is none.
std::vector<RankId> RingThrough(const WaitFor& graph, RankId start) {
  std::map<RankId, RankId> from;
  std::set<std::size_t> seen;
  std::deque<RankId> next{start};
  while (!next.empty() && !from.contains(start)) {
    const RankId rank = next.front();
    next.pop_front();
    ForEachAwaited(graph, rank, &seen, [&](RankId other) {
      if (from.emplace(other, rank).second && other != start) next.push_back(other);
    });
  }
  std::vector<RankId> ring;
  if (!from.contains(start)) return ring;
  RankId rank = start;
  do {
    ring.push_back(rank);
    rank = from.at(rank);
  } while (rank != start);
  std::sort(ring.begin(), ring.end());
  return ring;
}

// Ranks to look for rings from: those that hold up the smallest instances and wait themselves.
std::vector<RankId> Starts(const WaitFor& graph, std::size_t count) {
  std::vector<const StuckInstance*> by_size;
  for (const StuckInstance& stuck : graph.instances) {
    if (!stuck.held_by.empty()) by_size.push_back(&stuck);
  }
  std::stable_sort(by_size.begin(), by_size.end(), [](const auto* a, const auto* b) {
    return a->inside.size() * a->held_by.size() < b->inside.size() * b->held_by.size();
  });
  std::vector<RankId> starts;
  for (const StuckInstance* stuck : by_size) {
    for (const RankId rank : stuck->held_by) {
      if (starts.size() >= count) return starts;
      if (graph.waiting.contains(rank)) starts.push_back(rank);
    }
  }
  for (const auto& [rank, peers] : graph.unanswered) {
    if (starts.size() < count) starts.push_back(rank);
  }
  return starts;
}

}  // namespace

bool WaitFor::WaitsFor(RankId waiter, RankId other) const {
  bool waits = false;
  ForEachAwaited(*this, waiter, nullptr, [&](RankId rank) { waits |= rank == other; });
  return waits;
}

bool WaitFor::WaitsInMessage(RankId waiter, RankId other) const {
  const auto at = unanswered.find(waiter);
  return at != unanswered.end() && at->second.contains(other);
}

std::vector<RankId> WaitFor::Sinks() const {
  std::set<RankId> awaited;
  for (const StuckInstance& stuck : instances) {
    for (const RankId rank : stuck.held_by) {
      // Nobody but itself waits for a halted rank that is alone inside.
      if (stuck.inside.size() > 1 || !stuck.inside.contains(rank)) awaited.insert(rank);
    }
  }
  for (const auto& [rank, peers] : unanswered) awaited.insert(peers.begin(), peers.end());
  std::erase_if(awaited, [&](RankId rank) { return WaitsForSomebody(*this, rank); });
  return {awaited.begin(), awaited.end()};
}

std::vector<RankId> WaitFor::Ring() const {
  std::vector<RankId> shortest;
  for (const RankId start : Starts(*this, kRingStarts)) {
    std::vector<RankId> ring = RingThrough(*this, start);
    if (ring.empty()) continue;
    if (shortest.empty() || ring.size() < shortest.size()) shortest = std::move(ring);
    if (shortest.size() == 2) break;
  }
  return shortest;
}

WaitFor BuildWaitFor(const JobView& view, Nanos stuck_after, Nanos message_gap) {
  WaitFor out;
  AddCollectives(view, stuck_after, out);
  AddMessages(view, stuck_after, message_gap, out);
  return out;
}

}  // namespace fathom::diagnosis
