#include "collector/import/kineto/group_names.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace fathom::collector::kineto {
namespace {

constexpr std::size_t kWorkersOfGroup = 2;

// By number: "10" comes after "9".
bool Earlier(const TraceGroup* a, const TraceGroup* b) {
  return a->name.size() != b->name.size() ? a->name.size() < b->name.size() : a->name < b->name;
}

std::vector<const TraceGroup*> GroupsInOrder(const RankTrace& trace) {
  std::vector<const TraceGroup*> groups;
  for (const auto& [name, group] : trace.groups) groups.push_back(&group);
  std::sort(groups.begin(), groups.end(), Earlier);
  return groups;
}

const TraceGroup* Whole(const RankTrace& trace, const std::vector<const TraceGroup*>& groups) {
  const auto largest = std::max_element(
      groups.begin(), groups.end(), [](const auto* a, const auto* b) { return a->size < b->size; });
  if (largest == groups.end()) return nullptr;
  const std::int64_t world = trace.summary.header.world_size;
  return world == kAbsent || (*largest)->size == world ? *largest : nullptr;
}

using Signature = std::tuple<CollectiveKind, std::int64_t, DataType>;
using GroupOfThread = std::map<std::int64_t, const TraceGroup*>;

std::map<std::int64_t, std::set<Signature>> SignaturesByThread(const JoinedOps& joined) {
  std::map<std::int64_t, std::set<Signature>> by_thread;
  for (const JoinedOp& op : joined.ops) {
    if (op.run_begin == kAbsent || op.on_device || IsPointToPoint(op.call.kind)) continue;
    const bool uneven = op.call.kind == CollectiveKind::kAllToAll;  // its sizes tell no group
    by_thread[op.run_thread].insert(
        {op.call.kind, uneven ? kAbsent : op.call.elements, op.call.data_type});
  }
  return by_thread;
}

// Number of the set that each thread falls into, sets numbered by their lowest thread.
std::map<std::int64_t, std::size_t> SetsOfThreads(
    const std::map<std::int64_t, std::set<Signature>>& by_thread, std::size_t& count) {
  std::vector<std::pair<std::set<Signature>, std::vector<std::int64_t>>> sets;
  for (const auto& [thread, signatures] : by_thread) {
    const auto shared = [&, &mine = signatures](const auto& set) {
      return std::any_of(mine.begin(), mine.end(),
                         [&](const Signature& one) { return set.first.contains(one); });
    };
    const auto first = std::find_if(sets.begin(), sets.end(), shared);
    if (first == sets.end()) {
      sets.push_back({signatures, {thread}});
      continue;
    }
    first->first.insert(signatures.begin(), signatures.end());
    first->second.push_back(thread);
    for (auto other = first + 1; other != sets.end();) {
      other = shared(*other) ? (first->first.merge(other->first),
                                first->second.insert(first->second.end(), other->second.begin(),
                                                     other->second.end()),
                                sets.erase(other))
                             : other + 1;
    }
  }
  count = sets.size();
  std::map<std::int64_t, std::size_t> number;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    for (const std::int64_t thread : sets[i].second) number[thread] = i;
  }
  return number;
}

// `cut`: workers may be lost, so that fewer of them tell nothing.
GroupOfThread AssignThreads(const JoinedOps& joined, std::vector<const TraceGroup*> groups,
                            const TraceGroup* whole, bool cut) {
  const auto by_thread = SignaturesByThread(joined);
  GroupOfThread assigned;
  std::vector<const TraceGroup*> shared = groups;
  std::erase_if(shared, [](const TraceGroup* group) { return group->size == 1; });
  if (cut && by_thread.size() != kWorkersOfGroup * groups.size()) return assigned;
  for (const auto& candidates : {groups, shared}) {
    if (candidates.empty() || by_thread.size() != kWorkersOfGroup * candidates.size()) continue;
    std::size_t i = 0;
    for (const auto& [thread, unused] : by_thread) {
      assigned[thread] = candidates[i++ / kWorkersOfGroup];
    }
    return assigned;
  }
  std::size_t count = 0;
  const auto set_of = SetsOfThreads(by_thread, count);
  for (const auto& candidates : {groups, shared}) {
    if (count != candidates.size()) continue;
    for (const auto& [thread, set] : set_of) assigned[thread] = candidates[set];
    return assigned;
  }
  if (count != 1 || whole == nullptr) return assigned;
  for (const auto& [thread, unused] : by_thread) assigned[thread] = whole;
  return assigned;
}

}  // namespace

namespace {

// Traces of before PyTorch 2.1 name no group and list none: if all ops tell the same size, or none
// does, one group of all ranks is taken for theirs.
bool NameOnly(JoinedOps& joined) {
  const auto nameless = [](const JoinedOp& op) { return op.call.group.empty(); };
  if (joined.ops.empty() || !std::all_of(joined.ops.begin(), joined.ops.end(), nameless)) {
    return false;
  }
  const std::int64_t size = joined.ops.front().call.group_size;
  for (const JoinedOp& op : joined.ops) {
    if (!op.on_device || op.call.group_size != size) return false;
  }
  for (JoinedOp& op : joined.ops) op.call.group = kGroupOfAll;
  return true;
}

}  // namespace

bool NameGroups(const RankTrace& trace, JoinedOps& joined) {
  if (trace.groups.empty()) return NameOnly(joined);
  const std::vector<const TraceGroup*> groups = GroupsInOrder(trace);
  const TraceGroup* const whole = Whole(trace, groups);
  const bool only = groups.size() == 1;
  const GroupOfThread of_thread = AssignThreads(joined, groups, whole, trace.cut);
  bool named = false;
  for (JoinedOp& op : joined.ops) {
    if (!op.call.group.empty()) continue;
    const TraceGroup* group = only || IsPointToPoint(op.call.kind) ? whole : nullptr;
    const auto thread = of_thread.find(op.run_thread);
    if (group == nullptr && thread != of_thread.end()) group = thread->second;
    if (group == nullptr) continue;
    op.call.group = group->name;
    named = true;
  }
  return named;
}

}  // namespace fathom::collector::kineto
