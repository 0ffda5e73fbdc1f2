#include "diagnosis/graph/wait_for.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace fathom::diagnosis {
namespace {

const RankFacts* Find(const JobView& view, RankId rank) {
  for (const RankFacts& facts : view.ranks) {
    if (facts.rank == rank) return &facts;
  }
  return nullptr;
}

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

const OpenOp* OpenAt(const RankFacts& facts, GroupId group, Sequence sequence) {
  for (const OpenOp& op : facts.open_ops) {
    if (op.group == group && op.sequence == sequence) return &op;
  }
  return nullptr;
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
  for (const Group& group : view.groups) {
    if (group.id != id) continue;
    if (!group.members.empty()) return group.members;
    if (group.size != view.world_size) return {};
    std::vector<RankId> all;
    for (std::uint32_t r = 0; r < view.world_size; ++r) all.push_back(RankId(r));
    return all;
  }
  return {};
}

void SortMembers(const JobView& view, StuckInstance& instance) {
  const RankFacts* waiter = Find(view, instance.inside.begin()->first);
  const auto needed = EnteredUpTo(*waiter, instance.group, instance.sequence);
  for (RankId member : MembersOf(view, instance.group)) {
    if (instance.inside.contains(member)) continue;
    const RankFacts* facts = Find(view, member);
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
  std::set<std::pair<GroupId, Sequence>> stuck;
  for (const RankFacts& facts : view.ranks) {
    for (const OpenOp& op : facts.open_ops) {
      if (IsPointToPoint(op.kind) || op.age < stuck_after) continue;
      stuck.insert({op.group, op.sequence});
    }
  }
  for (const auto& [group, sequence] : stuck) {
    StuckInstance instance{group, sequence, {}, {}, {}};
    for (const RankFacts& facts : view.ranks) {
      if (const OpenOp* op = OpenAt(facts, group, sequence)) instance.inside[facts.rank] = *op;
    }
    SortMembers(view, instance);
    for (const auto& [waiter, op] : instance.inside) {
      out.waiting.insert(waiter);
      out.edges[waiter].insert(instance.missing.begin(), instance.missing.end());
      for (const auto& [other, unused] : instance.inside) {
        const RankFacts* facts = Find(view, other);
        if (other != waiter && Halted(*facts)) out.edges[waiter].insert(other);
      }
    }
    out.instances.push_back(std::move(instance));
  }
}

bool Answers(const RankFacts& peer, RankId waiter, CollectiveKind wanted) {
  return std::any_of(peer.open_ops.begin(), peer.open_ops.end(),
                     [&](const OpenOp& op) { return op.kind == wanted && op.peer == waiter; });
}

void AddMessages(const JobView& view, Nanos stuck_after, WaitFor& out) {
  for (const RankFacts& facts : view.ranks) {
    for (const OpenOp& op : facts.open_ops) {
      if (op.kind != CollectiveKind::kRecv || op.age < stuck_after) continue;
      out.waiting.insert(facts.rank);
      const RankFacts* peer = Find(view, op.peer);
      if (peer == nullptr) continue;
      if (Halted(*peer) || !Answers(*peer, facts.rank, CollectiveKind::kSend)) {
        out.edges[facts.rank].insert(op.peer);
      }
    }
  }
}

}  // namespace

std::vector<RankId> WaitFor::Sinks() const {
  std::set<RankId> awaited;
  for (const auto& [waiter, others] : edges) awaited.insert(others.begin(), others.end());
  std::vector<RankId> sinks;
  for (RankId rank : awaited) {
    const auto it = edges.find(rank);
    if (it == edges.end() || it->second.empty()) sinks.push_back(rank);
  }
  return sinks;
}

std::vector<RankId> WaitFor::Ring() const {
  std::set<RankId> ranks;
  for (const auto& [waiter, others] : edges) ranks.insert(waiter);
  for (bool changed = true; changed;) {
    std::set<RankId> awaited, stuck;
    for (RankId rank : ranks) {
      for (RankId other : edges.at(rank)) {
        if (!ranks.contains(other)) continue;
        awaited.insert(other);
        stuck.insert(rank);
      }
    }
    const std::size_t before = ranks.size();
    std::erase_if(ranks, [&](RankId r) { return !awaited.contains(r) || !stuck.contains(r); });
    changed = ranks.size() != before;
  }
  return {ranks.begin(), ranks.end()};
}

WaitFor BuildWaitFor(const JobView& view, Nanos stuck_after) {
  WaitFor out;
  AddCollectives(view, stuck_after, out);
  AddMessages(view, stuck_after, out);
  return out;
}

}  // namespace fathom::diagnosis
