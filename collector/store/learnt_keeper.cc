#include "collector/store/learnt_keeper.h"

#include <utility>

namespace fathom::collector {

void LearntKeeper::Met(JobState& job) {
  if (auto learnt = store_.FindLearnt(job.name())) job.Recall(*std::move(learnt));
}

void LearntKeeper::Looked(const JobState& job) {
  if (job.Figures().ended) {
    kept_.erase(job.name());
    return;
  }
  const Learnt learnt = job.learnt();
  // Too little to be of use, and a new life of the job must not lose what may yet fit.
  if (learnt.past.empty()) return;
  const auto [at, first] = kept_.try_emplace(job.name());
  const bool due = first || clock_.Mono() - at->second.when >= kEvery;
  if (!due && at->second.onset == learnt.episode.onset) return;
  at->second = {clock_.Mono(), learnt.episode.onset};
  store_.Save(job.name(), learnt).IgnoreError();  // counted, and shown as degraded
}

}  // namespace fathom::collector
