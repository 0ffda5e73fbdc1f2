// The healthy iterations of one run as distributions: what later runs of its profile are held
// against.
//
// Filled by collector/runs as iterations come in; the distributions are kept in the store.
//
// Model: iterations before kWarmUp are left out. Three stretches are kept, for like is compared
// with like: a job is not as fast at its start as later on.
//
//   iteration  0    5               50                    300                       …
//              |warm|--- first ------|
//                   |--- start ----------------------------|
//                   |--- whole ------------------------------------------------------|
//
// A stretch is there once its end is reached, if at most a tenth of it is missing (sick iterations
// are left out by the caller; a collector that came late has seen none). Of `whole` every k-th
// iteration is kept, k doubling as it fills.
//
// Units: seconds; mean over the ranks. Thread-safety: thread-compatible. Cost: Add O(1); a
// distribution O(n log n). Memory: 180 KB at most.
#ifndef FATHOM_DIAGNOSIS_HISTORY_RUN_SAMPLE_H_
#define FATHOM_DIAGNOSIS_HISTORY_RUN_SAMPLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "diagnosis/history/issue_shift.h"
#include "proto/types/flop_class.h"

namespace fathom::diagnosis {

// Where an iteration went, as far as summaries tell; the parts need not sum to the duration.
struct IterationParts {
  double duration_s = 0;
  double computing_s = 0;      // CPU time of the training thread, garbage collection aside
  double communication_s = 0;  // blocked in waits on communication
  double cores_s = 0;          // runnable, waiting for a core
  double gc_s = 0;
  double dataloader_s = 0;
  IssueShares issued{};  // of its ops; 0: no device tells
  // Nothing that is seen ran (docs/rules/void.md); mean of the ranks and iterations that tell.
  double void_between_s = 0;
  double void_within_s = 0;
  double void_known = 0;  // 1; of a mean the share of the iterations
  FlopByClass flop{};     // of products of matrices, of a rank; likewise
  double flop_known = 0;

  // Neither computing nor waiting for communication or a core.
  double host_s() const;
  // Without waiting for cores, which is somebody else's load.
  double net_s() const;
  double void_s() const { return void_between_s + void_within_s; }

  // Void time and operations as often as `each` knows them.
  IterationParts& operator+=(const IterationParts& each);
};

// Of `count` parts that were added up: void time and operations of those that know them, *_known
// then is their share; `issued` likewise.
IterationParts MeanOf(const IterationParts& sum, std::size_t count);

struct Distribution {
  static constexpr std::size_t kQuantiles = 41;
  static constexpr std::size_t kTail = 2;  // quantiles that a spike now and then may move

  std::int64_t count = 0;         // iterations
  std::vector<double> quantiles;  // of the duration, at (i + 0.5) / kQuantiles
  IterationParts mean;
  double net_s = 0;  // as Location(), of what is left without waiting for cores
  double noise = 0;  // of means of blocks of iterations, relative: what is not averaged away

  bool known() const { return count > 0; }
  // Mean of the quantiles between a tenth and nine tenths: what a few wild iterations do not move.
  double Location() const;
  // Mean without the tail, which one spike makes.
  double Bulk() const;
};

// Wasserstein-1 distance of two distributions of the duration without their tails, each less its
// location: how much their shapes differ, in seconds.
double ShapeDistance(const Distribution& a, const Distribution& b);

class RunSample {
 public:
  static constexpr std::int64_t kWarmUp = 5;
  static constexpr std::int64_t kFirst = 50;
  static constexpr std::int64_t kStart = 300;
  static constexpr std::size_t kMostKept = 512;

  // Requires: ascending numbers of the job's iterations; those left out are sick or were not seen.
  void Add(std::int64_t iteration, const IterationParts& parts);

  // It went by and is not to be taken: sick.
  void Skip(std::int64_t iteration);

  // Of the iterations before `end`; nothing where it is not reached or too much is missing.
  std::optional<Distribution> Upto(std::int64_t end) const;
  Distribution Whole() const;
  std::int64_t newest() const { return newest_; }

 private:
  struct Kept {
    std::int64_t iteration = 0;
    IterationParts parts;
  };

  std::vector<Kept> start_;    // before kStart
  std::vector<Kept> thinned_;  // of all
  std::int64_t every_ = 1;
  std::int64_t taken_ = 0;
  std::int64_t newest_ = -1;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HISTORY_RUN_SAMPLE_H_
