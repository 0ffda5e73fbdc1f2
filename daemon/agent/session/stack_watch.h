// Whose stacks are looked at while a job stands still: the suspects, and a sample of their victims.
//
// Owned by Agent. The agent itself knows who is suspect (silent outside of any op) and who waits
// (silent inside one), so no message from the centre is needed, and stacks are there when the
// verdict is. A suspect is looked at every 2 s for 40 s, which tells a loop from work, then once a
// minute; of the ranks of a job that wait, kVictims a node, twice each, to compare with.
//
// Thread-safety: the poll loop's. Ownership: owns the sampler.
// Errors: a stack that cannot be read goes up as an error in words. Cost: see stack_sampler.
#ifndef FATHOM_DAEMON_AGENT_SESSION_STACK_WATCH_H_
#define FATHOM_DAEMON_AGENT_SESSION_STACK_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "daemon/agent/session/rank_session.h"
#include "daemon/agent/source/stack/stack_sampler.h"
#include "fathom/v1/health.pb.h"

namespace fathom::agent {

class StackWatch {
 public:
  static constexpr SamplePlan kSuspectPlan{20, 60'000'000'000};
  static constexpr SamplePlan kVictimPlan{2};
  static constexpr std::size_t kVictims = 2;

  explicit StackWatch(StackSampler::Tool tool) : sampler_(std::move(tool)) {}

  // Adds the rank's stack to its health, if it is silent and there is one; asks for a newer one.
  void Look(const RankSession& session, std::int64_t now_ns, v1::RankHealth& health);
  void Forget(const std::string& ring);

 private:
  // May this rank be one of its job's sample?
  bool Chosen(const std::string& job, const std::string& ring);

  StackSampler sampler_;
  std::map<std::string, std::set<std::string>> victims_;  // job → rings
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SESSION_STACK_WATCH_H_
