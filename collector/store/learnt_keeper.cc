#include "collector/store/learnt_keeper.h"

#include <optional>
#include <utility>

namespace fathom::collector {

void LearntKeeper::Met(JobState& job) {
  if (auto learnt = store_.FindLearnt(job.name())) job.Recall(*std::move(learnt));
}

void LearntKeeper::Looked(const JobState& job) {
  const auto at = kept_.find(job.name());
  const MonoNs now = clock_.Mono();
  const bool waits = at != kept_.end() && now - at->second.when < RestOf(work_, kEvery);
  if (waits && at->second.onset == job.onset()) return;
  // Of too little nothing: a new life of the job must not lose what may yet fit.
  const std::optional<Learnt> learnt = job.learnt();
  if (!learnt) return;
  kept_[job.name()] = {now, learnt->episode.onset};
  const Doing writing(work_, CentrePart::kWrites);
  store_.Save(job.name(), *learnt).IgnoreError();  // counted, and shown as degraded
}

void LearntKeeper::Ended(const std::string& job) { kept_.erase(job); }

}  // namespace fathom::collector
