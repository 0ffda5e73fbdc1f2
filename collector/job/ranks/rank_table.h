// The ranks of one job: which process each is, on which node, and how it fares.
//
// Owned by JobState. A job lives in incarnations: when a rank comes back as another, younger
// process (torchrun restarted the workers, or the same job name was started again), everything of
// the former incarnation is void and Admit() says so; the caller then clears the rest of its state.
//
// Which of two processes is younger the wall clock does not say, for it may step and differ between
// nodes. On one node it is the order of their starts since its boot, and a new boot comes after the
// old one; between nodes it is the count of restarts. Processes of the two former incarnations are
// known again. A job belongs to whom it began with: while one of its ranks lives, only a node that
// takes part may begin a new incarnation, for a rank of another node only with a higher count of
// restarts or once that rank is gone or was not heard of for kOwnerSilence; and on one node the
// ranks of a job are of one user. A rank that the present incarnation lacks may come from a node
// that has no part in it with any count of restarts, for each launcher counts its own: one that
// stood by and took the place of another begins at 0. Whoever else announces a rank is no owner
// (kNotOwner).
//
// Thread-safety: thread-compatible (JobState's lock). Errors: RejectReason. Cost: O(log ranks).
#ifndef FATHOM_COLLECTOR_JOB_RANKS_RANK_TABLE_H_
#define FATHOM_COLLECTOR_JOB_RANKS_RANK_TABLE_H_

#include <array>
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

  // Whoever is not heard of for so long has lost its rank to whom announces it.
  static constexpr Nanos kOwnerSilence{60'000'000'000};

  static constexpr std::size_t kLifeMarks = 4096;

  // Who announces: a node, in which of its boots (empty: not told), and when.
  struct Teller {
    std::string_view node;
    std::string_view boot_id;
    MonoNs now;
  };

  // Takes in a process. `room` = ranks that may still be added.
  Admission Admit(const v1::RankInfo& info, const Teller& teller, std::size_t room);
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
  // Marks of processes of this life, by which it is known again: the first of each node, sorted, at
  // most kLifeMarks.
  std::vector<std::uint64_t> Life() const;
  bool AllGone() const;
  std::size_t RanksOn(std::string_view node) const;
  std::uint64_t contradictions() const { return contradictions_; }

 private:
  // How an announced process stands to those that are known.
  enum class Arrival : std::uint8_t { kKnown, kJoins, kRestart, kStale, kForeign, kContradicts };
  enum class Order : std::uint8_t { kOlder, kYounger, kUnknown };

  RankProcess ProcessOf(const v1::RankInfo& info, const Teller& teller) const;
  std::uint32_t FindNode(std::string_view node) const;
  std::uint32_t NodeIndex(std::string_view node);
  Arrival ArrivalOf(const RankState* known, const RankProcess& process, std::uint32_t world,
                    MonoNs now) const;
  Arrival InPlaceOf(const RankState& known, const RankProcess& process, MonoNs now) const;
  Arrival OfAnotherLife(const RankProcess& process, std::uint32_t world, bool over) const;
  Order OrderOnItsNode(const RankProcess& process) const;
  bool OfAnotherUser(const RankProcess& process) const;
  bool IsFormer(const RankProcess& process) const;
  bool AllOver(MonoNs now) const;
  void Begin(const v1::RankInfo& info);
  void Add(const v1::RankInfo& info, RankProcess process, const Teller& teller);

  std::map<RankId, RankState> ranks_;
  std::vector<std::string> nodes_;
  std::vector<std::uint32_t> ranks_on_;               // a node
  std::array<std::vector<std::uint64_t>, 2> former_;  // processes of the last two lives, sorted
  std::uint32_t world_size_ = 0;
  std::uint32_t restart_count_ = 0;
  std::int64_t started_wall_ns_ = 0;
  std::uint32_t incarnation_ = 0;
  std::uint64_t contradictions_ = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_RANKS_RANK_TABLE_H_
