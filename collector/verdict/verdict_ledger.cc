#include "collector/verdict/verdict_ledger.h"

#include <algorithm>

namespace fathom::collector {

void VerdictLedger::Tell(const Changes& changes) const {
  for (const auto& [change, episode] : changes) listener_(change, episode);
}

JobVerdicts& VerdictLedger::JobOf(const JobMoment& now) {
  if (!jobs_.contains(now.job) && jobs_.size() >= kMaxJobs) {
    jobs_.erase(std::min_element(jobs_.begin(), jobs_.end(), [](const auto& a, const auto& b) {
      return a.second.touched < b.second.touched;
    }));
  }
  Kept& kept = jobs_[now.job];
  kept.touched = now.mono;
  return kept.verdicts;
}

bool VerdictLedger::Update(const JobMoment& now, const diagnosis::Suspicion& suspicion,
                           const diagnosis::Diagnosis* diagnosis) {
  Changes changes;
  {
    const service::MutexLock lock(mutex_);
    changes = JobOf(now).Update(now, suspicion, diagnosis);
  }
  Tell(changes);
  return std::any_of(changes.begin(), changes.end(),
                     [](const auto& change) { return change.first == VerdictChange::kOpened; });
}

void VerdictLedger::Foresee(const JobMoment& now, const diagnosis::Diagnosis& ahead) {
  const service::MutexLock lock(mutex_);
  JobOf(now).Foresee(ahead);
}

void VerdictLedger::Explain(std::string_view job, const std::string& id,
                            const diagnosis::Detail& detail, WallNs wall, MonoNs mono) {
  Changes changes;
  {
    const service::MutexLock lock(mutex_);
    const auto at = jobs_.find(job);
    if (at != jobs_.end()) changes = at->second.verdicts.Explain(id, detail, wall, mono);
  }
  Tell(changes);
}

void VerdictLedger::Prove(const JobVerdicts::Prover& prover, WallNs wall, MonoNs mono) {
  Changes changes;
  {
    const service::MutexLock lock(mutex_);
    for (auto& [job, kept] : jobs_) {
      for (auto& change : kept.verdicts.Prove(prover, wall, mono)) {
        changes.push_back(std::move(change));
      }
    }
  }
  Tell(changes);
}

void VerdictLedger::Stand(const JobMoment& now, const diagnosis::Verdict& verdict) {
  Changes changes;
  {
    const service::MutexLock lock(mutex_);
    changes = JobOf(now).Stand(now, verdict);
  }
  Tell(changes);
}

void VerdictLedger::Withdraw(const JobMoment& now, const std::string& because) {
  Changes changes;
  {
    const service::MutexLock lock(mutex_);
    changes = JobOf(now).Withdraw(now, because);
  }
  Tell(changes);
}

void VerdictLedger::CloseAll(const JobMoment& now, const std::string& because) {
  Changes changes;
  {
    const service::MutexLock lock(mutex_);
    const auto at = jobs_.find(now.job);
    if (at != jobs_.end()) changes = at->second.verdicts.CloseAll(now, because);
  }
  Tell(changes);
}

void VerdictLedger::Conclude(const JobMoment& now, const diagnosis::Diagnosis& last) {
  Changes changes;
  {
    const service::MutexLock lock(mutex_);
    changes = JobOf(now).Conclude(now, last);
  }
  Tell(changes);
}

void VerdictLedger::Restart(const JobMoment& now) {
  CloseAll(now, "the job was restarted");
  const service::MutexLock lock(mutex_);
  const auto at = jobs_.find(now.job);
  if (at != jobs_.end()) jobs_.erase(at);
}

void VerdictLedger::Forget(std::string_view job) {
  const service::MutexLock lock(mutex_);
  const auto at = jobs_.find(job);
  if (at != jobs_.end()) jobs_.erase(at);
}

bool VerdictLedger::Adopt(const Episode& episode) {
  const service::MutexLock lock(mutex_);
  return jobs_[episode.job].verdicts.Adopt(episode);
}

void VerdictLedger::CloseAbsent(WallNs wall, MonoNs mono, Nanos patience,
                                const std::function<bool(const std::string&)>& known) {
  Changes changes;
  {
    const service::MutexLock lock(mutex_);
    for (auto& [job, kept] : jobs_) {
      if (!kept.verdicts.HasOpen() || known(job)) continue;
      if (!kept.touched.known()) kept.touched = mono;
      if (mono - kept.touched < patience) continue;
      JobMoment now;
      now.job = job;
      now.wall = wall;
      now.mono = mono;
      const Changes closed = kept.verdicts.CloseAll(now, kNotHeardOf);
      changes.insert(changes.end(), closed.begin(), closed.end());
    }
  }
  Tell(changes);
}

bool VerdictLedger::Waits(std::string_view job) const {
  const service::MutexLock lock(mutex_);
  const auto at = jobs_.find(job);
  return at != jobs_.end() && at->second.verdicts.Waits();
}

std::vector<Episode> VerdictLedger::Of(std::string_view job) const {
  const service::MutexLock lock(mutex_);
  const auto at = jobs_.find(job);
  return at == jobs_.end() ? std::vector<Episode>() : at->second.verdicts.Episodes();
}

std::vector<Episode> VerdictLedger::Open() const {
  const service::MutexLock lock(mutex_);
  std::vector<Episode> open;
  for (const auto& [job, kept] : jobs_) {
    for (Episode& episode : kept.verdicts.Episodes()) {
      if (episode.open()) open.push_back(std::move(episode));
    }
  }
  return open;
}

}  // namespace fathom::collector
