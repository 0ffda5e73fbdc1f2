#include "collector/job/state/job_table.h"

#include <algorithm>

namespace fathom::collector {

std::shared_ptr<JobState> JobTable::Find(std::string_view name) const {
  const service::MutexLock lock(mutex_);
  const auto at = jobs_.find(name);
  return at == jobs_.end() ? nullptr : at->second;
}

std::shared_ptr<JobState> JobTable::FindOrAdd(const std::string& name, const std::string& node) {
  service::MutexLock lock(mutex_);
  if (const auto at = jobs_.find(name); at != jobs_.end()) return at->second;
  if (!MayAdd(node)) return nullptr;
  const auto job = std::make_shared<JobState>(name, clock_, node);
  if (met_) {
    lock.Unlock();
    met_(*job);
    lock.Lock();
    // Others may have come meanwhile, this very job among them.
    if (const auto at = jobs_.find(name); at != jobs_.end()) return at->second;
    if (!MayAdd(node)) return nullptr;
  }
  return jobs_.emplace(name, job).first->second;
}

bool JobTable::MayAdd(const std::string& node) {
  if (JobsBegunBy(node) >= limits_.max_agent_jobs) return false;
  return jobs_.size() < limits_.max_jobs || ForgetOldestEnded();
}

void JobTable::Forget(std::string_view name) {
  const service::MutexLock lock(mutex_);
  const auto at = jobs_.find(name);
  if (at != jobs_.end()) jobs_.erase(at);
}

std::size_t JobTable::JobsBegunBy(const std::string& node) const {
  if (node.empty()) return 0;
  return static_cast<std::size_t>(std::count_if(jobs_.begin(), jobs_.end(), [&](const auto& each) {
    return each.second->begun_by() == node && !each.second->ended();
  }));
}

std::size_t JobTable::RoomOf(const std::string& node) const {
  if (node.empty()) return limits_.max_ranks;
  std::size_t used = 0;
  for (const auto& [name, job] : jobs_) {
    if (!job->ended()) used += job->RanksOn(node);
  }
  return limits_.max_agent_ranks - std::min(limits_.max_agent_ranks, used);
}

bool JobTable::ForgetOldestEnded() {
  auto oldest = jobs_.end();
  WallNs seen;
  for (auto at = jobs_.begin(); at != jobs_.end(); ++at) {
    const JobFigures figures = at->second->Figures();
    if (!figures.ended || (oldest != jobs_.end() && figures.last_seen >= seen)) continue;
    oldest = at;
    seen = figures.last_seen;
  }
  if (oldest == jobs_.end()) return false;
  jobs_.erase(oldest);
  return true;
}

std::vector<std::shared_ptr<JobState>> JobTable::All() const {
  const service::MutexLock lock(mutex_);
  std::vector<std::shared_ptr<JobState>> all;
  all.reserve(jobs_.size());
  for (const auto& [name, job] : jobs_) all.push_back(job);
  return all;
}

std::size_t JobTable::Used() const {
  std::size_t used = 0;
  for (const auto& [name, job] : jobs_) used += job->rank_count();
  return used;
}

bool JobTable::HasRoom(const std::string& node) const {
  const service::MutexLock lock(mutex_);
  if (JobsBegunBy(node) >= limits_.max_agent_jobs || RoomOf(node) == 0) return false;
  if (jobs_.size() < limits_.max_jobs && Used() < limits_.max_ranks) return true;
  return std::any_of(jobs_.begin(), jobs_.end(),
                     [](const auto& each) { return each.second->Figures().ended; });
}

std::size_t JobTable::MakeRoom(const std::string& node) {
  const service::MutexLock lock(mutex_);
  std::size_t used = Used();
  while (used >= limits_.max_ranks && ForgetOldestEnded()) used = Used();
  return std::min(limits_.max_ranks - std::min(limits_.max_ranks, used), RoomOf(node));
}

}  // namespace fathom::collector
