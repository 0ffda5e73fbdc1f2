#include "collector/ingest/kept_stream.h"

#include <map>

#include "collector/ops/op_store.h"
#include "fathom/v1/agent.pb.h"

namespace fathom::collector {

bool KeptStream::Holds(const std::string& job) const {
  return store_ != nullptr && store_->jobs().Holds(job);
}

void KeptStream::Keep(const std::string& job, const v1::AgentMessage& message) {
  if (Holds(job)) record_ = store_->Keep(job, {node_, boot_id_}, message);
}

// They are of all jobs of a node. Of ranks that go on one in five is enough to know that they do.
void KeptStream::KeepHealth(const std::vector<const v1::RankHealth*>& ranks) {
  if (store_ == nullptr) return;
  constexpr std::uint64_t kEvery = 5;
  constexpr std::int64_t kGoesOnNs = 2'000'000'000;
  const bool all = healths_++ % kEvery == 0;
  std::map<std::string, v1::AgentMessage> jobs;
  for (const v1::RankHealth* health : ranks) {
    const bool goes_on = health->last_event_age_ns() < kGoesOnNs && health->open_ops().empty();
    if ((goes_on && !all) || !Holds(health->job())) continue;
    *jobs[health->job()].mutable_health()->add_ranks() = *health;
  }
  for (const auto& [job, message] : jobs) Keep(job, message);
}

}  // namespace fathom::collector
