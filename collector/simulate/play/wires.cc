#include "collector/simulate/play/wires.h"

#include <algorithm>

namespace fathom::simulate {

bool IsNetwork(FaultKind kind) {
  switch (kind) {
    case FaultKind::kSlowNic:
    case FaultKind::kSlowNvlink:
    case FaultKind::kSlowPath:
    case FaultKind::kSlowLeaf:
    case FaultKind::kSlowSpine:
      return true;
    default:
      return false;
  }
}

Wires::Wires(const Scenario& scenario, const Layout& layout)
    : scenario_(scenario), layout_(layout) {
  BuildUsual();
  groups_ = usual_groups_;
  messages_ = usual_messages_;
}

std::uint32_t Wires::NeighbourOf(std::uint32_t rank, bool towards_last) const {
  const std::uint32_t world = layout_.world(), slice = layout_.slice();
  return (rank + (towards_last ? slice : world - slice)) % world;
}

bool Wires::WithinNode(const Users& users) const {
  return std::all_of(users.begin(), users.end(), [&](std::uint32_t rank) {
    return layout_.NodeOf(rank) == layout_.NodeOf(users.front());
  });
}

bool Wires::CrossesLeaves(const Users& users) const {
  return std::any_of(users.begin(), users.end(), [&](std::uint32_t rank) {
    return layout_.LeafOf(rank) != layout_.LeafOf(users.front());
  });
}

Wire Wires::Usual(const Users& users) const {
  const Cluster& cluster = scenario_.cluster;
  if (WithinNode(users)) return {cluster.nvlink_latency_us * 1e-6, 1e-9 / cluster.nvlink_gbytes_s};
  const double leaf = CrossesLeaves(users) ? cluster.leaf_latency_us : 0;
  return {(cluster.nic_latency_us + leaf) * 1e-6, 1e-9 / cluster.nic_gbytes_s};
}

void Wires::BuildUsual() {
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const auto dimension = static_cast<Dimension>(d);
    if (!layout_.InUse(dimension) || dimension == Dimension::kPipeline) continue;
    for (std::uint32_t g = 0; g < layout_.GroupCount(dimension); ++g) {
      usual_groups_[d].push_back(Usual(layout_.Members(dimension, g)));
    }
  }
  if (layout_.stages() < 2) return;
  for (std::uint32_t rank = 0; rank < layout_.world(); ++rank) {
    usual_messages_[0].push_back(Usual({rank, NeighbourOf(rank, true)}));
    usual_messages_[1].push_back(Usual({rank, NeighbourOf(rank, false)}));
  }
}

bool Wires::Uses(const Users& users, const Fault& fault) const {
  const auto has = [&](auto&& test) { return std::any_of(users.begin(), users.end(), test); };
  const bool has_rank = has([&](std::uint32_t rank) { return rank == fault.rank; });
  switch (fault.kind) {
    case FaultKind::kSlowNic:
      return has_rank && !WithinNode(users);
    case FaultKind::kSlowNvlink:
      return has_rank && WithinNode(users);
    case FaultKind::kSlowPath: {
      const auto on = [&](std::uint32_t of) {
        return has(
            [&, of](std::uint32_t rank) { return layout_.NodeOf(rank) == layout_.NodeOf(of); });
      };
      return !WithinNode(users) && on(fault.rank) && on(fault.peer);
    }
    case FaultKind::kSlowLeaf:
      return !WithinNode(users) && has([&](std::uint32_t rank) {
        return layout_.LeafOf(rank) == layout_.LeafOf(fault.rank);
      });
    case FaultKind::kSlowSpine:
      return !WithinNode(users) && CrossesLeaves(users);
    default:
      return false;
  }
}

void Wires::SlowDown(const Fault& fault, const Users& users, Wire& wire) const {
  if (!Uses(users, fault)) return;
  wire.latency_s *= fault.factor;
  wire.seconds_per_byte *= fault.factor;
}

Wire Wires::Between(std::uint32_t one, std::uint32_t other) const {
  const Users users = {one, other};
  Wire wire = Usual(users);
  for (std::size_t i : active_) SlowDown(scenario_.faults[i], users, wire);
  return wire;
}

void Wires::Slow(const Fault& fault) {
  const auto slow = [&](Wire& wire, const Users& users) { SlowDown(fault, users, wire); };
  for (std::size_t d = 0; d < kDimensions; ++d) {
    for (std::uint32_t g = 0; g < groups_[d].size(); ++g) {
      slow(groups_[d][g], layout_.Members(static_cast<Dimension>(d), g));
    }
  }
  for (std::uint32_t rank = 0; rank < messages_[0].size(); ++rank) {
    slow(messages_[0][rank], {rank, NeighbourOf(rank, true)});
    slow(messages_[1][rank], {rank, NeighbourOf(rank, false)});
  }
}

void Wires::SetIteration(std::int64_t iteration) {
  std::set<std::size_t> active;
  for (std::size_t i = 0; i < scenario_.faults.size(); ++i) {
    const Fault& fault = scenario_.faults[i];
    if (IsNetwork(fault.kind) && fault.ActiveIn(iteration)) active.insert(i);
  }
  if (active == active_) return;
  active_ = active;
  groups_ = usual_groups_;
  messages_ = usual_messages_;
  for (std::size_t i : active_) Slow(scenario_.faults[i]);
}

}  // namespace fathom::simulate
