// The communicators of one job, merged over what their members report.
//
// Owned by JobState. Every member sends a GroupInfo with the same id; the first known value of a
// field stays, a later one that differs is counted as a contradiction. A communicator whose
// members nobody could name is filled in from the members' own reports (rank and place in it).
//
// Thread-safety: thread-compatible (JobState's lock). Cost: O(members) a report. Bounds: groups
// ≤ 4 × ranks + 64, members over all groups ≤ kMaxGroupsPerRank × ranks + 1024.
#ifndef FATHOM_COLLECTOR_JOB_RANKS_GROUP_TABLE_H_
#define FATHOM_COLLECTOR_JOB_RANKS_GROUP_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "collector/admission/reject_reason.h"
#include "diagnosis/model/job_view.h"

namespace fathom::v1 {
class GroupInfo;
}

namespace fathom::collector {

class GroupTable {
 public:
  // Requires: the message is valid. `ranks`: ranks of the job known so far.
  Rejection Merge(const v1::GroupInfo& info, std::size_t ranks, std::uint32_t world_size);
  std::vector<diagnosis::Group> View() const;  // sorted by id
  // The member at `place` of a group, also while not all are known; kNoRank where it is not.
  RankId MemberAt(GroupId group, std::uint32_t place) const;
  std::size_t size() const { return groups_.size(); }
  std::size_t with_members() const;
  std::uint64_t contradictions() const { return contradictions_; }
  void Clear();

 private:
  struct Entry {
    diagnosis::Group group;
    std::map<std::uint32_t, RankId> places;  // place in the group → rank, while members are unknown
  };

  void MergeMembers(const v1::GroupInfo& info, Entry& entry);
  void MergePlace(const v1::GroupInfo& info, Entry& entry);

  std::map<GroupId, Entry> groups_;
  std::size_t members_ = 0;
  std::uint64_t contradictions_ = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_RANKS_GROUP_TABLE_H_
