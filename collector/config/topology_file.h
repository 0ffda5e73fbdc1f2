// How the nodes of a cluster hang on its switches, from a file: topology.conf of Slurm, or YAML.
//
// Used by Finalize() of the collector and by `fathom analyze` (--topology). docs/operations/
// topology.md has both forms.
//
//   SwitchName=leaf1 Nodes=n[01-16]          switches:
//   SwitchName=leaf2 Nodes=n[17-32]            - {name: leaf1, nodes: "n[01-16]"}
//   SwitchName=spine Switches=leaf[1-2]        - {name: rail0, nodes: "m[1-8]", gpus: [0, 4]}
//
// Model: told apart by content. Of topology.conf the lines of topology/tree are taken; comments,
// continued lines and keys in any case as Slurm has them; LinkSpeed is passed over. A node hangs on
// one leaf switch, or with `gpus` each of its GPUs does; a switch hangs on one other at most.
// Bounds: kMostTopologyBytes, kMostTopologyNodes, kMostTopologySwitches.
//
// Thread-safety: pure but for reading the file. Errors: NotFound, or InvalidArgument with file,
// line and what would do. Cost: O(nodes log nodes).
// Source: topology.conf(5) of Slurm.
#ifndef FATHOM_COLLECTOR_CONFIG_TOPOLOGY_FILE_H_
#define FATHOM_COLLECTOR_CONFIG_TOPOLOGY_FILE_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "diagnosis/model/topology.h"

namespace fathom::collector {

inline constexpr std::size_t kMostTopologyBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMostTopologyNodes = 200'000;
inline constexpr std::size_t kMostTopologySwitches = 50'000;

// Null where `file` is empty: none is told.
absl::StatusOr<std::shared_ptr<const diagnosis::Topology>> ReadTopology(const std::string& file);

// `name`: of the file, for errors.
absl::StatusOr<diagnosis::Topology> ParseTopology(std::string_view text, const std::string& name);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CONFIG_TOPOLOGY_FILE_H_
