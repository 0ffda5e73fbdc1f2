#include "diagnosis/graph/instances.h"

#include <algorithm>

#include "diagnosis/model/lookup.h"

namespace fathom::diagnosis {

Instances::Instances(const std::vector<RankTimeline>& lines, const std::vector<Group>& groups)
    : lines_(lines) {
  index_.resize(lines_.size());
  for (std::size_t l = 0; l < lines_.size(); ++l) index_[l].assign(lines_[l].ops.size(), kNoOp);
  JoinCollectives(groups);
  JoinMessages();
}

void Instances::JoinCollectives(const std::vector<Group>& groups) {
  std::map<GroupId, std::size_t> size;
  for (const Group& g : groups) size[g.id] = SizeOf(g);
  std::map<std::pair<GroupId, Sequence>, std::size_t> open;
  for (std::size_t l = 0; l < lines_.size(); ++l) {
    for (std::size_t k = 0; k < lines_[l].ops.size(); ++k) {
      const CommOp& op = *lines_[l].ops[k];
      if (IsPointToPoint(op.kind) || op.sequence == kNoSequence) continue;
      auto [it, fresh] = open.try_emplace({op.group, op.sequence}, instances_.size());
      if (fresh) instances_.push_back({op.group, op.kind, op.bytes, op.iteration, {}, false});
      instances_[it->second].members.push_back({l, k});
      index_[l][k] = it->second;
    }
  }
  for (Instance& instance : instances_) {
    const auto it = size.find(instance.group);
    instance.complete = it == size.end() ? instance.members.size() == lines_.size()
                                         : instance.members.size() >= it->second;
  }
}

void Instances::JoinMessages() {
  std::map<MessageKey, std::size_t> open;
  std::map<std::tuple<GroupId, RankId, RankId, Iteration, bool>, std::uint64_t> count;
  for (std::size_t l = 0; l < lines_.size(); ++l) {
    for (std::size_t k = 0; k < lines_[l].ops.size(); ++k) {
      const CommOp& op = *lines_[l].ops[k];
      if (!IsPointToPoint(op.kind) || op.peer == kNoRank) continue;
      const bool send = op.kind == CollectiveKind::kSend;
      const RankId src = send ? lines_[l].rank : op.peer;
      const RankId dst = send ? op.peer : lines_[l].rank;
      const std::uint64_t nth = count[{op.group, src, dst, op.iteration, send}]++;
      auto [it, fresh] =
          open.try_emplace({op.group, src, dst, op.iteration, nth}, instances_.size());
      if (fresh) instances_.push_back({op.group, op.kind, op.bytes, op.iteration, {}, false});
      Instance& instance = instances_[it->second];
      instance.members.push_back({l, k});
      instance.complete = instance.members.size() == 2;
      index_[l][k] = it->second;
    }
  }
}

const Instance* Instances::Of(const OpRef& ref) const {
  const std::size_t at = index_[ref.line][ref.op];
  return at == kNoOp ? nullptr : &instances_[at];
}

double Instances::TransferSeconds(const Instance& instance) const {
  if (!IsSynchronising(instance.kind)) return 0;
  double least = 0;
  bool any = false;
  for (const OpRef& ref : instance.members) {
    const CommOp& op = OpAt(ref);
    if (!op.done()) continue;
    const double elapsed = op.elapsed().Seconds();
    least = any ? std::min(least, elapsed) : elapsed;
    any = true;
  }
  return least;
}

LastArrival Instances::WhoCameLast(const OpRef& waiter, double floor) const {
  const Instance* instance = Of(waiter);
  if (instance == nullptr || instance->members.size() < 2) return {waiter, true, 0, false};
  switch (instance->kind) {
    case CollectiveKind::kSend:
    case CollectiveKind::kRecv:
      return Other(*instance, waiter);
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kScatter:
      return Root(*instance, waiter);
    default:
      return AmongAll(*instance, waiter, floor);
  }
}

LastArrival Instances::AmongAll(const Instance& instance, const OpRef& waiter, double floor) const {
  if (!OpAt(waiter).done()) return {waiter, true, 0, false};
  const double mine = OpAt(waiter).elapsed().Seconds();
  OpRef last = waiter;
  double least = mine;
  for (const OpRef& ref : instance.members) {
    if (!OpAt(ref).done()) return {waiter, true, 0, false};
    const double elapsed = OpAt(ref).elapsed().Seconds();
    if (elapsed < least) least = elapsed, last = ref;
  }
  if (last == waiter || mine - least < floor) return {waiter, true, 0, true};
  return {last, false, mine - least, true};
}

LastArrival Instances::Other(const Instance& instance, const OpRef& waiter) const {
  for (const OpRef& ref : instance.members) {
    if (!(ref == waiter)) return {ref, false, 0, true};
  }
  return {waiter, true, 0, false};
}

LastArrival Instances::Root(const Instance& instance, const OpRef& waiter) const {
  const RankId root = OpAt(waiter).peer;
  for (const OpRef& ref : instance.members) {
    if (lines_[ref.line].rank == root) return {ref, ref == waiter, 0, true};
  }
  return {waiter, true, 0, false};
}

}  // namespace fathom::diagnosis
