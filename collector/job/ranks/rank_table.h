// The ranks of one job: which process each is, on which node, and how it fares.
//
// Owned by JobState. A job lives in incarnations: when a rank comes back as another, younger
// process (torchrun restarted the workers, or the same job name was started again), everything of
// the former incarnation is void and Admit() says so; the caller then clears the rest of its state.
//
// Thread-safety: thread-compatible (JobState's lock). Errors: RejectReason. Cost: O(log ranks).
#ifndef FATHOM_COLLECTOR_JOB_RANKS_RANK_TABLE_H_
#define FATHOM_COLLECTOR_JOB_RANKS_RANK_TABLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collector/admission/reject_reason.h"
#include "collector/job/ranks/rank_state.h"
#include "proto/types/ids.h"

namespace fathom::v1 {
class RankGone;
class RankHealth;
class RankInfo;
}  // namespace fathom::v1

namespace fathom::collector {

class RankTable {
 public:
  struct Admission {
    bool added = false;      // a process that was not known
    bool restarted = false;  // a new incarnation begins with it
    Rejection rejected;
  };

  // Takes in a process. `room` = ranks that may still be added.
  Admission Admit(const v1::RankInfo& info, std::string_view node, std::size_t room);
  Rejection Gone(const v1::RankGone& gone, std::string_view node);
  Rejection Health(const v1::RankHealth& health, std::string_view node, MonoNs now);
  // Whether `node` speaks for `rank`: unknown_rank or not_owner where not.
  Rejection CheckOwner(RankId rank, std::string_view node) const;

  RankState* Find(RankId rank);
  const std::map<RankId, RankState>& ranks() const { return ranks_; }
  std::map<RankId, RankState>& ranks() { return ranks_; }
  const std::string& NodeOf(const RankState& rank) const { return nodes_[rank.process.node]; }
  const std::vector<std::string>& nodes() const { return nodes_; }
  std::uint32_t world_size() const { return world_size_; }
  std::uint32_t restart_count() const { return restart_count_; }
  std::int64_t started_wall_ns() const { return started_wall_ns_; }  // first process
  std::uint32_t incarnation() const { return incarnation_; }         // from 1
  bool AllGone() const;
  std::uint64_t contradictions() const { return contradictions_; }

 private:
  std::uint32_t NodeIndex(std::string_view node);
  bool IsRestart(const RankState* known, const RankProcess& process, std::uint32_t world) const;
  bool IsStale(const RankState* known, const RankProcess& process) const;
  void Begin(const v1::RankInfo& info);

  std::map<RankId, RankState> ranks_;
  std::vector<std::string> nodes_;
  std::uint32_t world_size_ = 0;
  std::uint32_t restart_count_ = 0;
  std::int64_t started_wall_ns_ = 0;
  std::uint32_t incarnation_ = 0;
  std::uint64_t contradictions_ = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_RANKS_RANK_TABLE_H_
