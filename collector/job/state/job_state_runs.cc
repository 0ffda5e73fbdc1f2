// The part of JobState that the history of runs is made of: with what the job was started, what it
// does, and where its iterations went.
#include <algorithm>
#include <map>

#include "collector/job/state/job_state.h"
#include "fathom/v1/run.pb.h"

namespace fathom::collector {

Rejection JobState::Apply(const v1::RunFacts& facts, std::string_view node) {
  const service::MutexLock lock(mutex_);
  if (auto bad = ranks_.CheckOwner(RankId(facts.rank()), node)) return bad;
  run_facts_.Take(facts, node);
  return std::nullopt;
}

JobState::RunSeen JobState::Run() const {
  const service::MutexLock lock(mutex_);
  RunSeen seen;
  seen.known = run_facts_.known(ranks_.nodes().size());
  seen.profile = run_facts_.Profile(ranks_.world_size());
  seen.setup = run_facts_.Setup();
  return seen;
}

std::set<std::string> JobState::Nodes() const {
  const service::MutexLock lock(mutex_);
  std::set<std::string> nodes;
  for (const auto& [rank, state] : ranks_.ranks()) nodes.insert(ranks_.NodeOf(state));
  return nodes;
}

std::vector<std::pair<std::int64_t, diagnosis::IterationParts>> JobState::IterationsAfter(
    std::int64_t after) const {
  const service::MutexLock lock(mutex_);
  return window_.PartsAfter(after);
}

JobWork JobState::Work() const {
  const service::MutexLock lock(mutex_);
  JobWork work;
  work.device = run_facts_.Profile(ranks_.world_size()).device;
  work.ranks = static_cast<std::uint32_t>(ranks_.ranks().size());
  work.iterations = window_.PartsAfter(window_.whole() - JobWork::kIterations);
  return work;
}

std::vector<RankWork> JobState::WorkOfRanks() const {
  SummaryWindow::Snapshot newest;
  {
    const service::MutexLock lock(mutex_);
    newest = window_.SettledAfter(window_.whole() - JobWork::kIterations, true);
  }
  struct Sum {
    RankWork of;
    std::int64_t iterations = 0, with_void = 0, with_flop = 0;
  };
  std::map<RankId, Sum> sums;
  for (const diagnosis::IterationSummary& iteration : newest.View()) {
    for (const diagnosis::RankIteration& row : iteration.ranks) {
      Sum& sum = sums[row.rank];
      sum.of.rank = row.rank;
      sum.of.duration = sum.of.duration + row.duration;
      sum.of.void_between = sum.of.void_between + row.void_between;
      sum.of.void_within = sum.of.void_within + row.void_within;
      sum.of.flop += 1e6 * row.mega_flop;
      ++sum.iterations;
      sum.with_void += row.void_between.count > 0;
      sum.with_flop += row.mega_flop > 0;
    }
  }
  std::vector<RankWork> ranks;
  for (auto& [rank, sum] : sums) {
    const std::int64_t told = std::max<std::int64_t>(1, sum.with_void);
    sum.of.duration = Nanos(sum.of.duration.count / sum.iterations);
    sum.of.void_between = Nanos(sum.of.void_between.count / told);
    sum.of.void_within = Nanos(sum.of.void_within.count / told);
    sum.of.flop /= static_cast<double>(std::max<std::int64_t>(1, sum.with_flop));
    ranks.push_back(sum.of);
  }
  return ranks;
}

}  // namespace fathom::collector
