#include "daemon/agent/session/stack_watch.h"

#include <optional>

#include "daemon/agent/session/rank_messages.h"

namespace fathom::agent {

bool StackWatch::Chosen(const std::string& job, const std::string& ring) {
  std::set<std::string>& chosen = victims_[job];
  if (chosen.size() < kVictims) chosen.insert(ring);
  return chosen.contains(ring);
}

void StackWatch::Forget(const std::string& ring) {
  sampler_.Forget(ring);
  for (auto& [job, rings] : victims_) rings.erase(ring);
}

void StackWatch::Look(const RankSession& session, std::int64_t now_ns, v1::RankHealth& health) {
  const bool runs = health.state() == "R" || health.state() == "S";
  const bool waits = health.open_ops_size() > 0;
  if (!session.Silent(now_ns) || session.unseen() || !runs) return Forget(session.name());
  if (waits && !Chosen(health.job(), session.name())) return sampler_.Forget(session.name());
  sampler_.Want(session.name(), session.identity().pid, waits ? kVictimPlan : kSuspectPlan, now_ns);
  const std::optional<StackView> seen = sampler_.Latest(session.name());
  if (!seen) return;
  *health.mutable_stack() = StackSampleOf(*seen);
}

}  // namespace fathom::agent
