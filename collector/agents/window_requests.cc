#include "collector/agents/window_requests.h"

#include "fathom/v1/window.pb.h"

namespace fathom::collector {

absl::Status WindowRequests::Ask(JobState& job, const WindowWish& wish) {
  const std::uint64_t id = next_id_.fetch_add(1);
  const auto order = job.PlanWindow(id, wish);
  if (!order.ok()) return order.status();
  for (const WindowAsk& ask : order->asks) {
    if (!Send(job, id, ask, order->patience)) job.RefuseWindow(id, ask, "agent_away");
  }
  return absl::OkStatus();
}

bool WindowRequests::Send(const JobState& job, std::uint64_t id, const WindowAsk& ask,
                          Nanos patience) const {
  const auto channel = registry_.ChannelOf(ask.node);
  if (channel == nullptr) return false;
  v1::WindowRequest request;
  request.set_request_id(id);
  request.set_job(job.name());
  for (const RankId rank : ask.ranks) request.add_ranks(rank.value);
  request.set_group(ask.group.value);
  request.set_open_sequence(ask.open_sequence);
  request.set_close_sequence(ask.close_sequence);
  request.set_patience_ns(patience.count);
  return channel->SendWindow(request);
}

}  // namespace fathom::collector
