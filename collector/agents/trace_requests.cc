#include "collector/agents/trace_requests.h"

#include "fathom/v1/trace.pb.h"

namespace fathom::collector {
namespace {

constexpr char kAgentAway[] = "agent_away";

}  // namespace

absl::Status TraceRequests::Switch(JobState& job, const SwitchWish& wish) {
  const std::uint64_t id = next_id_.fetch_add(1);
  const auto orders = job.PlanSwitch(id, wish);
  if (!orders.ok()) return orders.status();
  for (const SwitchAsk& ask : orders->asks) {
    if (!Send(job, id, ask, orders->patience)) job.RefuseSwitch(id, ask, kAgentAway);
  }
  return absl::OkStatus();
}

absl::Status TraceRequests::ReadStacks(JobState& job, const std::vector<RankId>& ranks) {
  const std::uint64_t id = next_id_.fetch_add(1);
  const auto asks = job.PlanStacks(id, ranks);
  if (!asks.ok()) return asks.status();
  for (const StackAsk& ask : *asks) {
    if (!Send(job, id, ask)) job.RefuseStacks(id, ask, kAgentAway);
  }
  return absl::OkStatus();
}

bool TraceRequests::Send(const JobState& job, std::uint64_t id, const SwitchAsk& ask,
                         Nanos patience) const {
  const auto channel = registry_.ChannelOf(ask.node);
  if (channel == nullptr) return false;
  v1::TraceOrder order;
  order.set_request_id(id);
  order.set_job(job.name());
  for (const RankId rank : ask.ranks) order.add_ranks(rank.value);
  order.set_group(ask.group.value);
  order.set_at_sequence(ask.at_sequence);
  order.set_sources_disabled(ask.words.sources_disabled);
  order.set_plugin_mask(ask.words.plugin_mask);
  order.set_patience_ns(patience.count);
  return channel->SendTrace(order);
}

bool TraceRequests::Send(const JobState& job, std::uint64_t id, const StackAsk& ask) const {
  const auto channel = registry_.ChannelOf(ask.node);
  if (channel == nullptr) return false;
  v1::StackRequest request;
  request.set_request_id(id);
  request.set_job(job.name());
  for (const RankId rank : ask.ranks) request.add_ranks(rank.value);
  return channel->SendStacks(request);
}

}  // namespace fathom::collector
