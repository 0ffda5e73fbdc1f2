// The part of JobState that people order: windows of detail, sources to switch, stacks.
#include <utility>

#include "collector/job/state/job_state.h"
#include "fathom/v1/trace.pb.h"
#include "fathom/v1/window.pb.h"

namespace fathom::collector {
namespace {

// Of a reply that tells of several ranks: are all of them the sender's?
template <typename Reply>
Rejection CheckOwners(const RankTable& ranks, const Reply& reply, std::string_view node) {
  for (const auto& told : reply.ranks()) {
    if (auto bad = ranks.CheckOwner(RankId(told.rank()), node)) return bad;
  }
  return std::nullopt;
}

}  // namespace

Rejection JobState::Apply(const v1::WindowReply& reply, std::string_view node) {
  const service::MutexLock lock(mutex_);
  if (auto bad = CheckOwners(ranks_, reply, node)) return bad;
  return detail_.Take(reply);
}

absl::StatusOr<JobState::WindowOrders> JobState::PlanWindow(std::uint64_t id,
                                                            const WindowWish& wish) {
  const service::MutexLock lock(mutex_);
  auto asks = detail_.Plan(id, wish, ranks_, window_, window_.RecentDuration(kRecentIterations),
                           clock_.Mono());
  if (!asks.ok()) return asks.status();
  return WindowOrders{*std::move(asks), detail_.patience()};
}

void JobState::RefuseWindow(std::uint64_t id, const WindowAsk& ask, const std::string& why) {
  const service::MutexLock lock(mutex_);
  detail_.Refuse(id, ask, why);
}

Rejection JobState::Apply(const v1::TraceReply& reply, std::string_view node) {
  const service::MutexLock lock(mutex_);
  if (auto bad = CheckOwners(ranks_, reply, node)) return bad;
  return switches_.Take(reply, ranks_);
}

absl::StatusOr<JobState::SwitchOrders> JobState::PlanSwitch(std::uint64_t id,
                                                            const SwitchWish& wish) {
  const service::MutexLock lock(mutex_);
  auto asks = switches_.Plan(id, wish, ranks_, window_, window_.RecentDuration(kRecentIterations));
  if (!asks.ok()) return asks.status();
  return SwitchOrders{*std::move(asks), switches_.patience()};
}

void JobState::RefuseSwitch(std::uint64_t id, const SwitchAsk& ask, const std::string& why) {
  const service::MutexLock lock(mutex_);
  switches_.Refuse(id, ask, why);
}

SourceSwitches JobState::switches() const {
  const service::MutexLock lock(mutex_);
  return switches_;
}

Rejection JobState::Apply(const v1::StackReply& reply, std::string_view node) {
  const service::MutexLock lock(mutex_);
  if (auto bad = CheckOwners(ranks_, reply, node)) return bad;
  return stacks_.Take(reply);
}

absl::StatusOr<std::vector<StackAsk>> JobState::PlanStacks(std::uint64_t id,
                                                           const std::vector<RankId>& ranks) {
  const service::MutexLock lock(mutex_);
  return stacks_.Plan(id, ranks, ranks_);
}

void JobState::RefuseStacks(std::uint64_t id, const StackAsk& ask, const std::string& why) {
  const service::MutexLock lock(mutex_);
  stacks_.Refuse(id, ask, why);
}

AskedStacks JobState::stacks() const {
  const service::MutexLock lock(mutex_);
  return stacks_;
}

}  // namespace fathom::collector
