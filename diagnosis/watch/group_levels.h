// What the members of each communicator took in one iteration: the shortest and the median.
//
// Used by watch/totals. Model: the groups of an iteration's ranks are its entries, in the order in
// which they stand there (0 is the first group of the first rank). Ranks stay in the same groups,
// so an entry is looked up only where it names another group than in the iteration before.
//
// Units: Nanos. Thread-safety: one thread. Cost: O(entries) an iteration, without allocation once
// the groups are known.
#ifndef FATHOM_DIAGNOSIS_WATCH_GROUP_LEVELS_H_
#define FATHOM_DIAGNOSIS_WATCH_GROUP_LEVELS_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

struct GroupLevel {
  Nanos shortest;
  Nanos median;
};

class GroupLevels {
 public:
  // Forgets what the iteration before taught.
  void Learn(const IterationSummary& iteration);

  // Requires: `entry` is one of the iteration that was learned.
  const GroupLevel& Of(std::size_t entry) const { return levels_[numbers_[entry]]; }

 private:
  std::size_t NumberOf(GroupId group, std::size_t entry);

  std::unordered_map<GroupId, std::size_t> known_;  // their numbers
  std::vector<GroupId> groups_;                     // of each entry
  std::vector<std::size_t> numbers_;                // of each entry
  std::vector<std::vector<std::int64_t>> elapsed_;  // ns, by number; empty between calls
  std::vector<GroupLevel> levels_;                  // by number
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_WATCH_GROUP_LEVELS_H_
