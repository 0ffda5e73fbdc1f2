// What one iteration lost, and whose each part of it is, from summaries alone.
//
// Used by collector/runs/account_keeper, once an iteration while a job runs, so that the account of
// a whole job needs no rows. ledger/accounting plays the lanes of the few iterations of which rows
// are at hand and is the exact one; this one is cheap, and looks at all of them.
//
//   load of a rank    ====own====|=slow channels=|
//   its reference     ====own of its role====
//   an iteration ends when the rank with the largest load has come: what the largest load lies
//   above the largest reference is what it lost
//
// Model: a rank's own time is its iteration without what it was blocked in communication; the
// reference is the median of its role (ranks that use communicators of the same sizes and
// descriptions as often). What of its own time it waited for a core (model/rank_times) is part of
// its load and nobody's fault: a rank is accused without it, and its share of the loss is smaller
// by what it waited beyond its role. What computes longer on as much more in its batches is
// imbalance. A rank of a role of one or two is held against all ranks in what its host spends on
// garbage, on batches or on neither computing nor waiting. A channel is a communicator: its
// transfer is the least time that one of its members spent in its ops, and where it takes
// channel_ratio times the lower quartile of its family, what it takes longer is added to the load
// of its members, as far as they were blocked; where it runs beside computing, but for one op.
// Families of which more than at_once are slow differ by design and accuse none. The loss of an
// iteration is then an airport game: mending all of a set of ranks wins back what the largest load
// falls. Its Shapley value has a closed form (each slice of the loss is shared equally by those
// that reach above it), so shares sum to the loss exactly. Accused are ranks that lie least_cost of
// the iteration above their reference; below the largest load of all others nobody is to blame, and
// that much is unexplained. Where the caller knows that the job is slower than its past by more
// than that, the rest of it is unexplained too.
//
// Units: seconds of the iteration (times the ranks: GPU-seconds). Thread-safety: thread-compatible;
// the accountant remembers roles and communicators. Errors: none; of fewer than two ranks nothing
// is lost. Cost: O(ranks × communicators of a rank).
// Source: airport game, Littlechild and Owen 1973; the limits are those of peers/account_limits.
#ifndef FATHOM_DIAGNOSIS_LEDGER_RUNNING_ITERATION_ACCOUNT_H_
#define FATHOM_DIAGNOSIS_LEDGER_RUNNING_ITERATION_ACCOUNT_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "diagnosis/model/entity.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/peers/account_limits.h"

namespace fathom::diagnosis {

// A part of the loss: of a rank, or of a communicator (`group`), in which `rank` is one member.
struct Charge {
  RankId rank;
  GroupId group;  // 0: the rank itself
  Cause cause = Cause::kUnknown;
  double seconds = 0;
};

struct IterationAccount {
  Iteration index;
  WallNs begin;
  std::size_t ranks = 0;  // that reported
  double used_s = 0;
  double lost_s = 0;
  double unexplained_s = 0;
  std::vector<Charge> charges;  // with unexplained_s they sum to lost_s
};

class IterationAccountant {
 public:
  explicit IterationAccountant(const AccountLimits& limits = {}) : limits_(limits) {}

  // `groups`: of the job, by id. `expected_s`: what an iteration took before the job became slow;
  // 0: it is not slow, or that is not known.
  IterationAccount Account(const IterationSummary& iteration, const std::vector<Group>& groups,
                           double expected_s);

 private:
  struct Row {
    double own = 0, blocked = 0;
    double cores = 0;  // of `own`: it waited for a core
    double host = 0;   // of `own`: no stage's work
    double compute = 0, gc = 0, dataloader = 0;
    double elements = 0;   // of its batches
    double reference = 0;  // what `own` should be
    double excess = 0;     // of `own`, that may be the rank's fault
    double waits = 0;      // of `cores`, beyond its role's
    double channels = 0;   // what slow channels add
    std::size_t role = 0;
  };
  struct Channel {
    GroupId id;
    std::uint64_t kind = 0;  // size and description
    std::size_t size = 0;
    // Of the iteration at hand.
    std::size_t members = 0;
    std::uint32_t count = 0;
    bool even = true;  // all members used it as often
    double transfer = 0;
    double excess = 0;
  };
  struct Role {
    std::size_t begin = 0, end = 0;  // of its members, in by_role_
    double own = 0;
    bool parts_known = false;  // of what follows
    double compute = 0, gc = 0, dataloader = 0, elements = 0;
  };

  bool Knows(const std::vector<Group>& groups) const;
  void LearnChannels(const std::vector<Group>& groups);
  std::size_t ChannelOf(GroupId id, std::size_t place);
  void Read(const IterationSummary& iteration);
  void ReadRank(const RankIteration& rank, std::size_t& place);
  void JudgeChannels(double iteration_s);
  void AddChannels(const IterationSummary& iteration);
  void SortByRole();
  void Refer();
  void ReferFew(const Role& role);
  template <typename Part>
  double MedianOf(const Role& role, const Part& part);
  Cause CauseOf(const Row& row);
  void Share(const IterationSummary& iteration, IterationAccount& out);
  void ChargeFor(const RankIteration& rank, std::size_t row, double seconds, IterationAccount& out);

  const AccountLimits limits_;
  bool on_device_ = false;
  std::vector<Channel> channels_;
  std::unordered_map<GroupId, std::size_t> channel_by_id_;
  std::unordered_map<std::uint64_t, std::size_t> role_by_signature_;
  std::vector<Row> rows_;                // by place in the iteration
  std::vector<std::size_t> channel_at_;  // by rank, then by its communicators: as found last
  std::vector<std::size_t> begins_at_;   // by place in the iteration: where its channels begin
  std::vector<Role> roles_;
  std::vector<std::size_t> by_role_;  // places of ranks
  Role all_;                          // all ranks, as if they had one role
  double usual_host_ = 0;
  std::vector<double> scratch_;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_LEDGER_RUNNING_ITERATION_ACCOUNT_H_
