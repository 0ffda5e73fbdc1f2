// How long transfers take: latency and inverse bandwidth of every group and of every message
// between stages, with the network faults of an iteration.
//
// Owned by Player. Model: alpha-beta. A collective is as fast as the worst path it uses: NVLink if
// all its members share a node, else one NIC a GPU, with more latency where leaves are crossed. A
// fault multiplies latency and inverse bandwidth of the groups and messages that use its device.
//
// Units: seconds, seconds a byte. Thread-safety: thread-compatible. Cost: O(ranks × dimensions) to
// build and at each change of the set of faults; O(1) a question.
// Source: Hockney's model; ring volumes and tree latencies as in NCCL's cost model.
#ifndef FATHOM_COLLECTOR_SIMULATE_PLAY_WIRES_H_
#define FATHOM_COLLECTOR_SIMULATE_PLAY_WIRES_H_

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "collector/simulate/play/layout.h"
#include "collector/simulate/play/program.h"
#include "collector/simulate/scenario/scenario.h"

namespace fathom::simulate {

struct Wire {
  double latency_s = 0;
  double seconds_per_byte = 0;

  // `load`: of the bytes, against the usual.
  double Seconds(const Step& step, double load = 1) const {
    return latency_s * step.hops + seconds_per_byte * step.volume * load;
  }
};

class Wires {
 public:
  // The scenario and the layout must outlive it.
  Wires(const Scenario& scenario, const Layout& layout);

  // Network faults as they are in this iteration.
  void SetIteration(std::int64_t iteration);

  const Wire& OfGroup(Dimension dimension, std::uint32_t group) const {
    return groups_[static_cast<std::size_t>(dimension)][group];
  }
  // Between two ranks, as it is in this iteration. Cost: O(faults).
  Wire Between(std::uint32_t one, std::uint32_t other) const;
  // From a rank to its neighbour in the next stage, or in the one before.
  const Wire& FromRank(std::uint32_t rank, bool towards_last) const {
    return messages_[towards_last ? 0 : 1][rank];
  }

 private:
  using Users = std::vector<std::uint32_t>;  // ranks that share a transfer

  Wire Usual(const Users& users) const;
  bool Uses(const Users& users, const Fault& fault) const;
  bool WithinNode(const Users& users) const;
  bool CrossesLeaves(const Users& users) const;
  void BuildUsual();
  void Slow(const Fault& fault);
  void SlowDown(const Fault& fault, const Users& users, Wire& wire) const;
  std::uint32_t NeighbourOf(std::uint32_t rank, bool towards_last) const;

  const Scenario& scenario_;
  const Layout& layout_;
  std::array<std::vector<Wire>, kDimensions> usual_groups_, groups_;
  std::array<std::vector<Wire>, 2> usual_messages_, messages_;
  std::set<std::size_t> active_;  // faults in force, by place
};

bool IsNetwork(FaultKind kind);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_PLAY_WIRES_H_
