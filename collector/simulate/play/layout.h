// Where each rank stands: its place in the parallel plan, its communicators, its node and leaf.
//
// Built from a scenario; used by program, wires, slowness, player, observer, score and the agents
// of fathom-fleet.
//
// Model: ranks are numbered as Megatron-LM does by default, tensor fastest, then context, data,
// pipeline. A slice is all ranks of one pipeline stage; they run the same program. Within a slice
// the groups of a dimension are regular: members `stride` apart, `size` of them. The data dimension
// joins data and context ranks, as gradients are summed over both. Experts are spread over
// neighbouring data ranks.
//
// Thread-safety: built, then only read. Cost: O(1) a question; Groups() O(ranks × dimensions).
#ifndef FATHOM_COLLECTOR_SIMULATE_PLAY_LAYOUT_H_
#define FATHOM_COLLECTOR_SIMULATE_PLAY_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collector/simulate/scenario/scenario.h"
#include "diagnosis/model/job_view.h"

namespace fathom::simulate {

enum class Dimension : std::uint8_t { kTensor, kContext, kExpert, kData, kPipeline, kWorld };
inline constexpr std::size_t kDimensions = 6;

struct DimensionShape {
  std::uint32_t stride = 1;
  std::uint32_t size = 1;
};

class Layout {
 public:
  // Requires: Finalize(scenario) is ok.
  explicit Layout(const Scenario& scenario);

  std::uint32_t world() const { return world_; }
  std::uint32_t slice() const { return slice_; }  // ranks of a stage
  std::uint32_t stages() const { return plan_.pipeline; }
  std::uint32_t nodes() const { return (world_ + gpus_ - 1) / gpus_; }

  // Size 1: not in use. Not for kPipeline and kWorld, which span slices.
  DimensionShape Shape(Dimension dimension) const;
  bool InUse(Dimension dimension) const { return SizeOf(dimension) > 1; }
  std::uint32_t SizeOf(Dimension dimension) const;
  std::uint32_t GroupCount(Dimension dimension) const { return world_ / SizeOf(dimension); }
  // Index of the rank's group among all of the dimension.
  std::uint32_t GroupOf(Dimension dimension, std::uint32_t rank) const;
  std::vector<std::uint32_t> Members(Dimension dimension, std::uint32_t group) const;
  static GroupId IdOf(Dimension dimension, std::uint32_t group);

  std::uint32_t StageOf(std::uint32_t rank) const { return rank / slice_; }
  // The data-parallel replica, within 0 … data − 1.
  std::uint32_t ReplicaOf(std::uint32_t rank) const {
    return rank % slice_ / (plan_.tensor * plan_.context);
  }
  std::uint32_t NodeOf(std::uint32_t rank) const { return rank / gpus_; }
  std::uint32_t LeafOf(std::uint32_t rank) const;

  // All groups in use, by id.
  std::vector<diagnosis::Group> Groups() const;

 private:
  ParallelPlan plan_;
  std::uint32_t world_, slice_, gpus_, nodes_per_leaf_;
  bool rails_;
};

// "node-0012".
std::string NodeName(std::uint32_t node);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_PLAY_LAYOUT_H_
