#include "daemon/agent/ops/op_stream.h"

#include <algorithm>
#include <utility>

#include "daemon/agent/session/rows_reply.h"
#include "proto/packing/pack_ops.h"
#include "proto/types/job_names.h"

namespace fathom::agent {

void OpStream::Take(RankSession& session, std::uint64_t closed_end, MonoNs now) {
  if (!session.rank_known() || !NamesJob(wanted_, session.identity().job)) return;
  const RowSpan due = cursor_.Due(session, closed_end);
  held_ ? PassOver(session, due) : Add(session, due, now);
}

void OpStream::PassOver(const RankSession& session, const RowSpan& span) {
  if (cursor_.Knows(session)) counters_.missed += span.missed + (span.last - span.first);
  cursor_.MoveTo(session, span.last);
}

void OpStream::TakeLast(RankSession& session, MonoNs now) {
  if (session.rank_known() && NamesJob(wanted_, session.identity().job)) {
    Add(session, cursor_.Rest(session), now);
  }
  cursor_.Forget(session);
}

void OpStream::Add(RankSession& session, RowSpan span, MonoNs now) {
  // Of what came before it was wanted, nothing is missed.
  if (cursor_.Knows(session)) counters_.missed += span.missed;
  Gathered& gathered = jobs_[session.identity().job];
  while (span.first < span.last) {
    if (gathered.ops == 0) gathered.since = now;
    const std::uint64_t last = std::min(span.last, span.first + RowCursor::kRowsAtOnce);
    v1::RowsReply rows = RowsBetween(session, span.first, last);
    gathered.ops += rows.ranks(0).ops_size();
    gathered.rows.set_job(rows.job());
    const auto [at, added] =
        gathered.place.emplace(session.identity().rank, gathered.rows.ranks_size());
    if (added) {
      gathered.rows.add_ranks()->Swap(rows.mutable_ranks(0));
    } else {
      gathered.rows.mutable_ranks(at->second)->MergeFrom(rows.ranks(0));
    }
    span.first = last;
    if (gathered.ops >= kBlockRows) Send(gathered);
  }
  cursor_.MoveTo(session, span.last);
}

void OpStream::Tick(MonoNs now) {
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    const bool idle = at->second.ops == 0;
    if (!idle && now - at->second.since >= kBlockAge) Send(at->second);
    at = idle ? jobs_.erase(at) : std::next(at);
  }
}

void OpStream::Flush() {
  for (auto& [job, gathered] : jobs_) {
    if (gathered.ops > 0) Send(gathered);
  }
}

void OpStream::Send(Gathered& gathered) {
  v1::AgentMessage message;
  *message.mutable_ops() = PackOps(gathered.rows, next_serial_++);
  counters_.ops += static_cast<std::uint64_t>(gathered.ops);
  counters_.bytes += message.ByteSizeLong();
  outbox_.PutBulk(std::move(message));
  gathered = Gathered();
}

}  // namespace fathom::agent
