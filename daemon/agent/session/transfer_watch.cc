#include "daemon/agent/session/transfer_watch.h"

#include <algorithm>

namespace fathom::agent {
namespace {

// The rows of the ops that it has been stuck in, by op.
std::map<std::uint64_t, const OpRow*> StuckOps(RankSession& session, std::int64_t now_ns) {
  std::map<std::uint64_t, const OpRow*> stuck;
  const OpLog& log = session.pipeline().log();
  for (const std::uint64_t number : session.pipeline().joiner().OpenRows()) {
    const OpRow& row = log.At(number);
    if (now_ns - row.enter_ns >= TransferWatch::kStuckNs) stuck.emplace(row.op_id, &row);
  }
  return stuck;
}

// Counts that a transfer cannot have: its slot changed hands, or its writer is not ours.
bool Sound(const TransferSeen& transfer, const OpRow& row) {
  const auto [posted, gpu, moved, done] = transfer.counts;
  const std::uint32_t middle = transfer.sends ? gpu : moved, late = transfer.sends ? moved : gpu;
  return transfer.group_slot == row.group_slot && posted <= transfer.steps && middle <= posted &&
         late <= middle && done <= late;
}

void Put(const TransferSeen& from, const OpRow& row, const RankPipeline& pipeline,
         v1::Transfer& to) {
  OpRow other_end = row;
  other_end.peer = from.peer;
  to.set_group(pipeline.Group(row.group_slot).id.value);
  to.set_sequence(row.sequence);
  pipeline.TellPeer(other_end, to);
  to.set_channel(from.channel);
  to.set_sends(from.sends);
  to.set_steps(from.steps);
  to.set_posted(from.counts[0]);
  to.set_gpu(from.counts[1]);
  to.set_moved(from.counts[2]);
  to.set_done(from.counts[3]);
}

}  // namespace

void TransferWatch::Look(RankSession& session, std::int64_t now_ns, v1::RankHealth& health) {
  const auto stuck = health.open_ops().empty() ? std::map<std::uint64_t, const OpRow*>()
                                               : StuckOps(session, now_ns);
  if (stuck.empty()) return Forget(session.name());
  OfARank& before = seen_[session.name()];
  OfARank now;
  for (const TransferSeen& transfer : session.Transfers()) {
    const auto op = stuck.find(transfer.op_id);
    if (op == stuck.end() || !Sound(transfer, *op->second)) continue;
    const std::pair name(transfer.place, transfer.turn);
    const auto known = before.find(name);
    const bool still = known != before.end() && known->second.counts == transfer.counts;
    Seen& seen = now[name];
    seen = {transfer.counts, still ? known->second.since_ns : now_ns};
    v1::Transfer& told = *health.add_transfers();
    Put(transfer, *op->second, session.pipeline(), told);
    told.set_still_ns(now_ns - seen.since_ns);
  }
  before = std::move(now);
  if (health.transfers_size() > kMostOfARank) health.clear_transfers();
}

}  // namespace fathom::agent
