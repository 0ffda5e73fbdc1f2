#include <algorithm>

#include "daemon/agent/agent.h"
#include "daemon/agent/session/rows_reply.h"

namespace fathom::agent {
namespace {

// An answer that was cut might have been as large as any.
double BytesUncut(const v1::RowsReply& reply) {
  const bool cut = std::any_of(reply.ranks().begin(), reply.ranks().end(),
                               [](const v1::RankRows& rank) { return rank.truncated(); });
  return static_cast<double>(cut ? Outbox::kMaxMessageBytes : reply.ByteSizeLong());
}

}  // namespace

void Agent::AnswerRequests() {
  if (link_ == nullptr) return;
  for (const v1::RowsRequest& request : link_->TakeRequests()) {
    std::vector<RankSession*> sessions;
    for (const std::uint32_t rank : request.ranks()) {
      if (RankSession* session = SessionOf(request.job(), rank); session != nullptr) {
        sessions.push_back(session);
      }
    }
    const CostMeter::In in(&meter_, WorkPart::kRows);
    meter_.Handled(WorkPart::kRows, 1);
    ++totals_.rows_requests;
    const auto most = static_cast<std::size_t>(planner_.plan().paces.Of(Knob::kRows));
    v1::AgentMessage message;
    *message.mutable_rows() =
        AnswerRows(request, sessions, std::min(most, Outbox::kMaxMessageBytes));
    rows_bytes_.push_back(BytesUncut(message.rows()));
    outbox_.PutMomentary(std::move(message));
  }
}

void Agent::CarryOutOrders(std::int64_t now_ns) {
  if (link_ == nullptr) return;
  for (const auto& request : link_->TakeWindowRequests()) orders_.OpenWindow(request, now_ns);
  for (const auto& order : link_->TakeTraceOrders()) orders_.Switch(order, now_ns);
  for (const auto& request : link_->TakeStackRequests()) orders_.ReadStacks(request, now_ns);
  orders_.ReportCaptures(now_ns, [this](const auto& message) { Record(message); });
  for (const auto& request : link_->TakeCaptureRequests()) orders_.Capture(request, now_ns);
  orders_.ReportStacks(now_ns);
  for (const auto& order : link_->TakeProbeOrders()) {
    probes_.Carry(order, sessions_.size(), world_.wall_now().ns);
  }
  probes_.Report(sessions_.size());
}

}  // namespace fathom::agent
