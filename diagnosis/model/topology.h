// How the nodes of a cluster hang on its switches, where a person has told it.
//
// Read from a file by collector/config/topology_file; used by ledger/odd_place and
// slowness/network/wiring, which guess without it. Model: a tree. Each node hangs on a leaf switch,
// in rail-wired clusters each of its GPUs on one of several; switches hang on others. Ranks of a
// node are its GPUs in the order of their numbers.
//
//          spine            a group of ranks on n0 and n3 uses leaf-a, spine and leaf-b;
//        ┌───┴────┐         one on n0 and n1 uses leaf-a;
//     leaf-a    leaf-b      one within n0 uses no switch
//     n0  n1    n2  n3
//
// A node is known by its name, and by the part of it before the first dot.
// Thread-safety: plain values; pure functions. Errors: empty where a node is not told.
// Cost: O(log nodes) a node.
#ifndef FATHOM_DIAGNOSIS_MODEL_TOPOLOGY_H_
#define FATHOM_DIAGNOSIS_MODEL_TOPOLOGY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

struct Topology {
  struct Leaf {
    std::string name;
    std::set<std::uint32_t> gpus;  // of the node, that hang on it; empty: all
  };
  std::map<std::string, std::vector<Leaf>, std::less<>> leaves;  // by node
  std::map<std::string, std::string, std::less<>> above;         // by switch; the topmost have none
  std::string source;                                            // the file
};

// Empty where it is not told.
std::string LeafOf(const Topology& topology, std::string_view node, std::uint32_t gpu);

// Of all ranks of the job; empty where that of any is not told.
std::map<RankId, std::string> LeavesOf(const JobView& view, const Topology& topology);

// The switches above the leaves that traffic between these leaves goes through.
std::set<std::string> SwitchesBetween(const Topology& topology,
                                      const std::set<std::string>& leaves);

// Whether `leaf` hangs on `upper`, directly or through others.
bool HangsOn(const Topology& topology, std::string_view leaf, std::string_view upper);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_TOPOLOGY_H_
