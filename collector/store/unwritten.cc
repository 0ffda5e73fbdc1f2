#include "collector/store/unwritten.h"

#include <algorithm>

namespace fathom::collector {

std::uint64_t Unwritten::Put(const Episode& episode) {
  verdicts.insert_or_assign(episode.id, episode);
  if (verdicts.size() <= kMaxVerdicts) return 0;
  verdicts.erase(std::min_element(verdicts.begin(), verdicts.end(), [](auto& a, auto& b) {
    if (a.second.open() != b.second.open()) return !a.second.open();
    return a.second.updated < b.second.updated;
  }));
  return 1;
}

std::uint64_t Unwritten::Put(const StoredJob& job) {
  jobs.insert_or_assign(job.name, job);
  if (jobs.size() <= kMaxJobs) return 0;
  jobs.erase(std::min_element(jobs.begin(), jobs.end(), [](auto& a, auto& b) {
    return a.second.last_seen < b.second.last_seen;
  }));
  return 1;
}

void Unwritten::SortAndCut(std::vector<Episode>& found, std::size_t limit) {
  std::sort(found.begin(), found.end(), [](const Episode& a, const Episode& b) {
    return a.opened != b.opened ? a.opened > b.opened : a.id < b.id;
  });
  if (found.size() > limit) found.resize(limit);
}

}  // namespace fathom::collector
