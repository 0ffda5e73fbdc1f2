// The account of a whole job so far: what it used, what it lost, to whom, and when.
//
// Filled by collector/runs/account_keeper, an iteration at a time (iteration_account); read by the
// API, the page and the exporter; kept in the store, so that it goes on after a restart.
//
// Model: sums of GPU-seconds, which only grow. At most kMostShares entities are kept by name; when
// there are twice as many, the smaller half of them is told as one for each cause, so that what a
// cause cost never falls. Over time the job is cut into at most kMostSlices slices of equally many
// iterations; when they are full, two neighbours become one.
//
// Units: GPU-seconds: seconds of an iteration times the ranks that took part; wall time for
// display. Thread-safety: thread-compatible; plain values. Errors: none. Cost: Add O(charges × log
// shares); now and then O(slices × shares). Memory: 64 KiB at most.
#ifndef FATHOM_DIAGNOSIS_LEDGER_RUNNING_RUNNING_ACCOUNT_H_
#define FATHOM_DIAGNOSIS_LEDGER_RUNNING_RUNNING_ACCOUNT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "diagnosis/model/entity.h"
#include "proto/types/ids.h"
#include "proto/types/time_units.h"

namespace fathom::diagnosis {

// What an entity cost by one cause.
struct Loss {
  Entity entity = {};
  std::uint64_t number = 0;  // of the entity: its rank or communicator
  Cause cause = Cause::kUnknown;
  Owner owner = Owner::kOperations;
  double gpu_s = 0;
  bool rest = false;  // several that are too small to be kept by name
};

struct AccountSlice {
  WallNs begin = {};  // of its first iteration
  Iteration first{-1};
  std::int64_t iterations = 0;
  double used_gpu_s = 0;
  double unexplained_gpu_s = 0;
  std::vector<double> lost_gpu_s = {};  // by loss; may be shorter: 0
};

class RunningAccount {
 public:
  static constexpr std::size_t kMostShares = 64;
  static constexpr std::size_t kMostSlices = 120;

  struct State {
    std::int64_t iterations = 0;
    double used_gpu_s = 0;
    double unexplained_gpu_s = 0;
    std::map<std::pair<Cause, Owner>, double> by_cause;  // GPU-seconds; none ever falls
    std::vector<Loss> losses;  // the same by entity, in the order in which they were first seen
    std::vector<AccountSlice> slices;
    std::int64_t slice_iterations = 1;

    // The sum of what all causes cost and of what is unexplained.
    double lost_gpu_s() const;
  };

  RunningAccount() = default;
  explicit RunningAccount(State state) : state_(std::move(state)) {}

  struct Took {
    Iteration index = {};
    WallNs begin = {};
    std::int64_t iterations = 1;  // 0: of one that has not ended
    double used_gpu_s = 0;
    double unexplained_gpu_s = 0;
  };
  // Requires: none of the amounts is negative.
  void Add(const Took& took, const std::vector<Loss>& losses);

  const State& state() const { return state_; }
  double lost_gpu_s() const { return state_.lost_gpu_s(); }

 private:
  std::size_t PlaceOf(const Loss& loss);
  AccountSlice& SliceFor(const Took& took);
  void TellSmallOnesTogether();
  void JoinSlices();

  State state_;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_LEDGER_RUNNING_RUNNING_ACCOUNT_H_
