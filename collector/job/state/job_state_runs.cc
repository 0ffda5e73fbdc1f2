// The part of JobState that the history of runs is made of: with what the job was started, what it
// does, and where its iterations went.
#include "collector/job/state/job_state.h"
#include "fathom/v1/run.pb.h"

namespace fathom::collector {

Rejection JobState::Apply(const v1::RunFacts& facts, std::string_view node) {
  const std::lock_guard lock(mutex_);
  if (auto bad = ranks_.CheckOwner(RankId(facts.rank()), node)) return bad;
  run_facts_.Take(facts, node);
  return std::nullopt;
}

JobState::RunSeen JobState::Run() const {
  const std::lock_guard lock(mutex_);
  RunSeen seen;
  seen.known = run_facts_.known(ranks_.nodes().size());
  seen.profile = run_facts_.Profile(ranks_.world_size());
  seen.setup = run_facts_.Setup();
  return seen;
}

std::vector<std::pair<std::int64_t, diagnosis::IterationParts>> JobState::IterationsAfter(
    std::int64_t after) const {
  const std::lock_guard lock(mutex_);
  return window_.PartsAfter(after);
}

}  // namespace fathom::collector
