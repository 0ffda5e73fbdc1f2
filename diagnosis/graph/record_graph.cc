#include "diagnosis/graph/record_graph.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "diagnosis/model/lookup.h"

namespace fathom::diagnosis::records {
namespace {

enum class Presence { kInside, kDone, kAbsent, kUnknown };

using Key = std::pair<GroupId, Sequence>;

std::optional<std::uint64_t> Entered(const JobView& view, RankId rank, GroupId group) {
  const RankFacts* facts = FactsOf(view, rank);
  if (facts == nullptr) return std::nullopt;
  for (const GroupProgress& progress : facts->groups) {
    if (progress.group == group) return progress.entered;
  }
  return std::nullopt;
}

std::vector<RankId> StaleRecords(const JobView& view) {
  std::map<GroupId, std::uint64_t> completed;  // ops of the group, by whoever got furthest
  for (const RankRecord& record : view.records) {
    for (const EnteredOp& op : record.ops) {
      if (!op.completed || !IsSynchronising(op.kind) || op.sequence == kNoSequence) continue;
      std::uint64_t& count = completed[op.group];
      count = std::max(count, op.sequence.value + 1);
    }
  }
  std::vector<RankId> stale;
  for (const auto& [id, count] : completed) {
    const Group* group = FindGroup(view, id);
    if (group == nullptr) continue;
    for (const RankId rank : group->members) {
      const auto entered = Entered(view, rank, id);
      if (entered && *entered < count && !Contains(stale, rank)) stale.push_back(rank);
    }
  }
  std::sort(stale.begin(), stale.end());
  return stale;
}

Presence PresenceOf(const JobView& view, const std::vector<RankId>& stale, RankId rank,
                    const StuckInstance& instance) {
  if (Contains(instance.inside, rank)) return Presence::kInside;
  const RankRecord* record = FindRecord(view, rank);
  if (record == nullptr || record->extent == RecordExtent::kMissing) return Presence::kUnknown;
  if (record->cut) return Presence::kUnknown;
  const auto entered = Entered(view, rank, instance.group);
  const bool behind = !entered || *entered <= instance.sequence.value;
  if (behind && Contains(stale, rank)) return Presence::kUnknown;
  // A record that says nothing of the group shows at least that the op is not open there.
  if (!entered) return Presence::kAbsent;
  return *entered > instance.sequence.value ? Presence::kDone : Presence::kAbsent;
}

void Place(StuckInstance& instance, RankId rank, Presence presence) {
  if (presence == Presence::kDone) instance.done.push_back(rank);
  if (presence == Presence::kAbsent) instance.absent.push_back(rank);
  if (presence == Presence::kUnknown) instance.unknown.push_back(rank);
}

void AddTo(StuckInstance& instance, const EnteredOp& op, RankId rank) {
  instance.group = op.group;
  instance.sequence = op.sequence;
  if (instance.kind == CollectiveKind::kUnknown) instance.kind = op.kind;
  if (instance.inside.empty() || instance.inside.back() != rank) instance.inside.push_back(rank);
  if (op.created.known() && (!instance.since.known() || op.created < instance.since)) {
    instance.since = op.created;
  }
}

// Ranks whose device began each op, and the groups whose ops' beginnings are known at all.
struct Starts {
  std::map<Key, std::vector<RankId>> ranks;
  std::set<GroupId> told;
};

Starts StartsOf(const JobView& view) {
  Starts starts;
  for (const RankRecord& record : view.records) {
    for (const EnteredOp& op : record.ops) {
      if (!op.started || IsPointToPoint(op.kind)) continue;
      starts.told.insert(op.group);
      if (op.open) starts.ranks[{op.group, op.sequence}].push_back(record.rank);
    }
  }
  return starts;
}

// Takes out of the instance those whose device has not begun it. False: no device has.
bool HoldBackQueued(const Starts& starts, StuckInstance& instance) {
  if (!starts.told.contains(instance.group)) return true;
  const auto began = starts.ranks.find({instance.group, instance.sequence});
  if (began == starts.ranks.end()) return !instance.done.empty();
  for (const RankId rank : instance.inside) {
    if (!Contains(began->second, rank)) instance.queued.push_back(rank);
  }
  std::erase_if(instance.inside, [&](RankId rank) { return Contains(instance.queued, rank); });
  instance.absent.insert(instance.absent.end(), instance.queued.begin(), instance.queued.end());
  std::sort(instance.absent.begin(), instance.absent.end());
  return true;
}

struct Message {
  GroupId group;
  CollectiveKind kind;
  RankId peer;
  bool Is(const EnteredOp& op) const {
    return op.group == group && op.kind == kind && op.peer == peer;
  }
};

// What became of the other end of the nth message (from 1) of a pair: the nth of the peer, where
// both records begin with the first; else whatever the peer has open.
Presence OtherEnd(const RankRecord& peer, const Message& other, std::optional<std::size_t> nth) {
  std::size_t count = 0;
  for (const EnteredOp& op : peer.ops) {
    if (!other.Is(op)) continue;
    if (nth ? ++count == *nth : op.open) return op.open ? Presence::kInside : Presence::kDone;
  }
  return Presence::kAbsent;
}

// Which message of its pair `at` is, from 1.
std::size_t NumberOf(const RankRecord& record, const EnteredOp& at) {
  const Message message{at.group, at.kind, at.peer};
  std::size_t number = 0;
  for (const EnteredOp& op : record.ops) {
    number += message.Is(op) ? 1 : 0;
    if (&op == &at) break;
  }
  return number;
}

// An open send or receive, whose other end has posted its side or not.
void AddPointToPoint(const JobView& view, const EnteredOp& op, const RankRecord& own,
                     std::vector<StuckInstance>& to) {
  if (op.peer == kNoRank) return;
  const CollectiveKind other =
      op.kind == CollectiveKind::kSend ? CollectiveKind::kRecv : CollectiveKind::kSend;
  const RankRecord* peer = FindRecord(view, op.peer);
  StuckInstance instance;
  AddTo(instance, op, own.rank);
  if (peer == nullptr || peer->extent == RecordExtent::kMissing) {
    instance.unknown.push_back(op.peer);
    to.push_back(std::move(instance));
    return;
  }
  std::optional<std::size_t> nth;
  if (own.from_start && peer->from_start) nth = NumberOf(own, op);
  const Presence end = OtherEnd(*peer, {op.group, other, own.rank}, nth);
  if (end == Presence::kInside) {
    if (op.kind == CollectiveKind::kRecv) return;  // the sender's side stands for both
    instance.inside.push_back(op.peer);
    std::sort(instance.inside.begin(), instance.inside.end());
  } else {
    const bool lost = end == Presence::kAbsent && peer->cut;
    Place(instance, op.peer, lost ? Presence::kUnknown : end);
  }
  to.push_back(std::move(instance));
}

bool WaitsForSomebody(const RecordGraph& graph, RankId rank) {
  const auto waits = graph.waits.find(rank);
  if (waits == graph.waits.end()) return false;
  return std::any_of(waits->second.begin(), waits->second.end(), [&](std::size_t i) {
    return graph.instances[i].held() || graph.instances[i].unrecorded();
  });
}

bool InsideComplete(const RecordGraph& graph, RankId rank) {
  const auto waits = graph.waits.find(rank);
  if (waits == graph.waits.end()) return false;
  return std::any_of(waits->second.begin(), waits->second.end(),
                     [&](std::size_t i) { return graph.instances[i].complete(); });
}

// Ranks that wait for `ends`, directly or through others, with the ends themselves.
std::set<RankId> Behind(const RecordGraph& graph, std::vector<RankId> ends) {
  std::map<RankId, std::vector<std::size_t>> absent_in;
  for (std::size_t i = 0; i < graph.instances.size(); ++i) {
    if (!graph.instances[i].held()) continue;
    for (const RankId rank : graph.instances[i].absent) absent_in[rank].push_back(i);
  }
  std::set<RankId> behind(ends.begin(), ends.end());
  while (!ends.empty()) {
    const RankId rank = ends.back();
    ends.pop_back();
    for (const std::size_t i : absent_in[rank]) {
      for (const RankId waiter : graph.instances[i].inside) {
        if (behind.insert(waiter).second) ends.push_back(waiter);
      }
    }
  }
  return behind;
}

// Of these ranks, those on a ring: nobody is left that no other one of them waits for.
std::vector<RankId> Ring(const RecordGraph& graph, std::set<RankId> ranks) {
  for (bool changed = true; changed;) {
    std::set<RankId> waited_for;
    for (const RankId rank : ranks) {
      const auto waits = graph.waits.find(rank);
      if (waits == graph.waits.end()) continue;
      for (const std::size_t i : waits->second) {
        const auto& absent = graph.instances[i].absent;
        if (graph.instances[i].held()) waited_for.insert(absent.begin(), absent.end());
      }
    }
    const std::size_t before = ranks.size();
    std::erase_if(ranks, [&](RankId rank) { return !waited_for.contains(rank); });
    changed = ranks.size() != before;
  }
  return {ranks.begin(), ranks.end()};
}

}  // namespace

const RankRecord* FindRecord(const JobView& view, RankId rank) {
  const auto at = std::lower_bound(view.records.begin(), view.records.end(), rank,
                                   [](const RankRecord& r, RankId id) { return r.rank < id; });
  return at != view.records.end() && at->rank == rank ? &*at : nullptr;
}

const StuckInstance* LeftBehindIn(const RecordGraph& graph, RankId rank) {
  const StuckInstance* oldest = nullptr;
  for (const StuckInstance& instance : graph.instances) {
    if (!Contains(instance.inside, rank) || instance.done.size() <= instance.inside.size())
      continue;
    if (oldest == nullptr || instance.sequence < oldest->sequence) oldest = &instance;
  }
  return oldest;
}

RecordGraph BuildRecordGraph(const JobView& view) {
  std::map<Key, StuckInstance> collectives;
  RecordGraph graph;
  graph.stale = StaleRecords(view);
  const Starts starts = StartsOf(view);
  for (const RankRecord& record : view.records) {
    for (const EnteredOp& op : record.ops) {
      if (!op.open) continue;
      if (IsPointToPoint(op.kind)) {
        AddPointToPoint(view, op, record, graph.instances);
      } else if (op.sequence != kNoSequence) {
        AddTo(collectives[{op.group, op.sequence}], op, record.rank);
      }
    }
  }
  for (auto& [key, instance] : collectives) {
    const Group* group = FindGroup(view, key.first);
    if (group == nullptr) continue;
    for (const RankId member : group->members) {
      Place(instance, member, PresenceOf(view, graph.stale, member, instance));
    }
    if (!HoldBackQueued(starts, instance)) continue;
    graph.instances.push_back(std::move(instance));
  }
  for (std::size_t i = 0; i < graph.instances.size(); ++i) {
    for (const RankId rank : graph.instances[i].inside) graph.waits[rank].push_back(i);
  }
  return graph;
}

Sinks FindSinks(const RecordGraph& graph) {
  Sinks sinks;
  std::set<RankId> idle;
  std::vector<RankId> ends;  // where following ends without a ring
  for (std::size_t i = 0; i < graph.instances.size(); ++i) {
    const StuckInstance& instance = graph.instances[i];
    for (const RankId rank : instance.absent) {
      if (!instance.held() || WaitsForSomebody(graph, rank)) continue;
      if (!InsideComplete(graph, rank)) idle.insert(rank);
    }
    const bool waiting = std::any_of(instance.inside.begin(), instance.inside.end(),
                                     [&](RankId r) { return WaitsForSomebody(graph, r); });
    if (instance.complete() && !waiting) sinks.complete.push_back(i);
    if (instance.unrecorded()) sinks.unrecorded.push_back(i);
    const bool end = (instance.complete() && !waiting) || instance.unrecorded();
    if (end) ends.insert(ends.end(), instance.inside.begin(), instance.inside.end());
  }
  ends.insert(ends.end(), idle.begin(), idle.end());
  const std::set<RankId> explained = Behind(graph, ends);
  std::set<RankId> rest;
  for (const auto& [rank, waits] : graph.waits) {
    if (!explained.contains(rank) && WaitsForSomebody(graph, rank)) rest.insert(rank);
  }
  sinks.idle.assign(idle.begin(), idle.end());
  sinks.cycle = Ring(graph, std::move(rest));
  return sinks;
}

}  // namespace fathom::diagnosis::records
