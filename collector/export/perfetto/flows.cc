#include "collector/export/perfetto/flows.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "proto/types/collective_kind.h"

namespace fathom::collector::perfetto {
namespace {

using diagnosis::CommOp;

bool Drawn(const CommOp& op, const RankPart& part) {
  return op.arrival().known() && op.arrival().ns < part.until;
}

}  // namespace

Flows::Flows(const std::vector<RankPart>& parts) {
  of_op_.resize(parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].rows != nullptr) of_op_[p].assign(parts[p].rows->ops.size(), 0);
  }
  JoinCollectives(parts);
  JoinMessages(parts);
}

void Flows::Add(const Member& member, std::size_t flow) {
  Flow& of = flows_[flow];
  if (of.members++ == 0 || member.at >= of.last.at) of.last = member;
  of_op_[member.part][member.op] = flow + 1;
}

void Flows::JoinCollectives(const std::vector<RankPart>& parts) {
  std::map<std::tuple<GroupId, Sequence, std::size_t>, std::size_t> known;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].rows == nullptr) continue;
    const std::vector<CommOp>& ops = parts[p].rows->ops;
    std::map<std::pair<GroupId, Sequence>, std::size_t> places;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const CommOp& op = ops[i];
      if (IsPointToPoint(op.kind) || op.sequence == kNoSequence) continue;
      const std::size_t place = places[{op.group, op.sequence}]++;
      if (!Drawn(op, parts[p])) continue;
      const auto [at, fresh] = known.try_emplace({op.group, op.sequence, place}, flows_.size());
      if (fresh) flows_.emplace_back();
      Add({op.arrival().ns - parts[p].shift, p, i, op.bytes}, at->second);
    }
  }
}

void Flows::JoinMessages(const std::vector<RankPart>& parts) {
  std::map<std::tuple<GroupId, RankId, RankId, Iteration>, Channel> channels;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].rows == nullptr) continue;
    const std::vector<CommOp>& ops = parts[p].rows->ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const CommOp& op = ops[i];
      const bool told = op.peer != kNoRank && op.peer != parts[p].rank && op.iteration.value >= 0;
      if (!IsPointToPoint(op.kind) || !told || !Drawn(op, parts[p])) continue;
      const Member member{op.arrival().ns - parts[p].shift, p, i, op.bytes};
      if (op.kind == CollectiveKind::kSend) {
        channels[{op.group, parts[p].rank, op.peer, op.iteration}].sent.push_back(member);
      } else {
        channels[{op.group, op.peer, parts[p].rank, op.iteration}].received.push_back(member);
      }
    }
  }
  for (const auto& [key, channel] : channels) Join(channel);
}

void Flows::Join(const Channel& channel) {
  const auto alike = [](const Member& sent, const Member& received) {
    return sent.bytes == received.bytes || sent.bytes == 0 || received.bytes == 0;
  };
  if (channel.sent.size() != channel.received.size()) return;
  if (!std::equal(channel.sent.begin(), channel.sent.end(), channel.received.begin(), alike)) {
    return;
  }
  for (std::size_t k = 0; k < channel.sent.size(); ++k) {
    const Member& sent = channel.sent[k];
    const Member& received = channel.received[k];
    flows_.emplace_back();
    // In the order in which they are written, which decides between equal times.
    Add(sent.part < received.part ? sent : received, flows_.size() - 1);
    Add(sent.part < received.part ? received : sent, flows_.size() - 1);
  }
}

Flows::Link Flows::Of(std::size_t part, std::size_t op) const {
  const std::size_t at = of_op_[part].empty() ? 0 : of_op_[part][op];
  if (at == 0 || flows_[at - 1].members < 2) return {};
  const Member& last = flows_[at - 1].last;
  return {at, last.part == part && last.op == op};
}

}  // namespace fathom::collector::perfetto
