// What the store was told and could not write yet: tried again until it is written, and read as if
// it were.
//
// Owned by Store. Of each verdict and job the newest state waits. Bounds: kMaxVerdicts verdicts, of
// which closed ones leave first, and kMaxJobs jobs; what leaves is lost, which Put tells.
// Thread-safety: thread-compatible. Errors: none. Cost: O(log n).
#ifndef FATHOM_COLLECTOR_STORE_UNWRITTEN_H_
#define FATHOM_COLLECTOR_STORE_UNWRITTEN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/store/stored_job.h"
#include "collector/verdict/episode.h"

namespace fathom::collector {

class Unwritten {
 public:
  static constexpr std::size_t kMaxVerdicts = 5'000;
  static constexpr std::size_t kMaxJobs = 100;

  // How many were given up for it.
  std::uint64_t Put(const Episode& episode);
  std::uint64_t Put(const StoredJob& job);

  bool empty() const { return verdicts.empty() && jobs.empty(); }
  std::size_t size() const { return verdicts.size() + jobs.size(); }

  // Puts those that `fits` into `found`, in place of the rows of the same verdicts; newest first,
  // at most `limit`.
  template <typename Fits>
  void MergeInto(std::vector<Episode>& found, std::size_t limit, Fits fits) const {
    if (verdicts.empty()) return;
    std::erase_if(found, [&](const Episode& each) { return verdicts.contains(each.id); });
    for (const auto& [id, episode] : verdicts) {
      if (fits(episode)) found.push_back(episode);
    }
    SortAndCut(found, limit);
  }

  std::map<std::string, Episode> verdicts;  // by id
  std::map<std::string, StoredJob> jobs;    // by name

 private:
  static void SortAndCut(std::vector<Episode>& found, std::size_t limit);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_UNWRITTEN_H_
