// What makes ranks slower than a usual GPU would be: differences between GPUs, faults, work that
// depends on the data, pauses, and where a rank stops for good.
//
// Owned by Player. Units: factors of time, seconds. Thread-safety: thread-compatible.
// Cost: O(ranks) an iteration.
#ifndef FATHOM_COLLECTOR_SIMULATE_PLAY_SLOWNESS_H_
#define FATHOM_COLLECTOR_SIMULATE_PLAY_SLOWNESS_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "collector/simulate/play/layout.h"
#include "collector/simulate/play/random.h"
#include "collector/simulate/scenario/scenario.h"

namespace fathom::simulate {

struct Pause {
  std::uint32_t rank = 0;
  double seconds = 0;
  bool collecting = false;  // of garbage; else waiting for a batch
};

class Slowness {
 public:
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

  // The scenario and the layout must outlive it.
  Slowness(const Scenario& scenario, const Layout& layout);

  void SetIteration(std::int64_t iteration);

  // Of all computing of a rank, and more of what is bound by memory, and what goes by on the host.
  double Gpu(std::uint32_t rank) const { return gpu_[rank]; }
  double Memory(std::uint32_t rank) const { return memory_[rank]; }
  double Host(std::uint32_t rank) const { return host_[rank]; }
  bool any_memory() const { return any_memory_; }
  bool any_host() const { return any_host_; }
  // Of the work of a micro-batch in a replica, and of experts on a rank; both around 1.
  bool varies() const { return !load_.empty(); }
  double Load(std::uint32_t replica, std::uint32_t micro_batch) const {
    return load_[replica * micro_batches_ + micro_batch];
  }
  double Routing(std::uint32_t rank, std::uint64_t random) const;
  // Of the usual: tokens that a rank's replica is given, what of them go to its experts, and
  // kernels that its stage launches.
  double Tokens(std::uint32_t rank) const { return tokens_.empty() ? 1 : tokens_[rank]; }
  double Routed(std::uint32_t rank) const { return hot_.empty() ? 1 : hot_[rank]; }
  double Launches(std::uint32_t rank) const { return launches_.empty() ? 1 : launches_[rank]; }
  // At the beginning of the iteration.
  const std::vector<Pause>& pauses() const { return pauses_; }
  // The rank that stops in this iteration and the step before which it does; kNever: none.
  std::uint32_t stopping_rank() const { return stopping_rank_; }
  bool stops() const { return stops_; }
  bool link_down() const { return link_down_; }
  std::uint32_t link_down_rank() const { return link_down_rank_; }

 private:
  void Apply(const Fault& fault);
  void DrawLoads(std::uint64_t key);

  const Scenario& scenario_;
  const Layout& layout_;
  const std::uint32_t micro_batches_;
  const LogNormal spread_, common_, sequence_, routing_;
  std::vector<double> usual_gpu_, gpu_, memory_, host_, load_;
  std::vector<double> tokens_, launches_;  // empty: as usual
  std::vector<double> hot_;                // experts' load on a rank, where a fault makes some hot
  std::vector<Pause> pauses_;
  bool any_memory_ = false, any_host_ = false, stops_ = false, link_down_ = false;
  std::uint32_t stopping_rank_ = 0, link_down_rank_ = 0;
};

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_PLAY_SLOWNESS_H_
