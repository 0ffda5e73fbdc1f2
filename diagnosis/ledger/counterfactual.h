// What the iterations would have taken, had some ranks and channels taken what their peers take.
//
// Used by ledger/accounting. Holds the lanes of all stretches with a replay of each, and the factor
// of every piece that brings it to its reference.
//
// Units: seconds over all stretches. Thread-safety: by one thread at a time. Lifetime: the lanes
// that it was given must outlive it. Errors: none. Cost of a question: O(steps).
#ifndef FATHOM_DIAGNOSIS_LEDGER_COUNTERFACTUAL_H_
#define FATHOM_DIAGNOSIS_LEDGER_COUNTERFACTUAL_H_

#include <cstddef>
#include <vector>

#include "diagnosis/ledger/channels.h"
#include "diagnosis/ledger/lanes.h"
#include "diagnosis/ledger/replay_lanes.h"
#include "diagnosis/peers/outliers.h"
#include "diagnosis/peers/peers.h"

namespace fathom::diagnosis {

class Counterfactual {
 public:
  Counterfactual(const std::vector<LaneGraph>& stretches, const Peers& peers,
                 const Outliers& of_ranks, const Channels& channels, const Outliers& of_channels);

  // Which are at their reference: by rank of the peers, and by channel.
  struct Repaired {
    std::vector<bool> ranks;
    std::vector<bool> channels;
  };
  Repaired None() const;
  Repaired All() const;

  double Seconds(const Repaired& repaired);

  std::size_t iterations() const { return iterations_; }

 private:
  void LearnOwn(const std::vector<LaneGraph>& stretches, const Peers& peers,
                const Outliers& of_ranks);
  void LearnTransfers(const Channels& channels, const Outliers& of_channels);

  std::size_t ranks_ = 0;
  std::size_t channels_ = 0;
  std::size_t iterations_ = 0;
  struct Stretch {
    const LaneGraph* graph = nullptr;
    LaneReplay replay;
    std::vector<std::size_t> rank;            // by lane
    std::vector<std::vector<double>> factor;  // by lane, then by iteration
    std::vector<std::size_t> channel;         // by join; kNoJoin: none
    std::vector<double> transfer_factor;      // by join
    LaneScales scales;                        // of the question at hand
  };
  std::vector<Stretch> stretches_;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_LEDGER_COUNTERFACTUAL_H_
