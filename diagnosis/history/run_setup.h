// With what a run was started, and what differs between two runs: versions, environment, launch
// arguments, revision, nodes.
//
// Made by collector/runs from what agents tell of one process a node, kept with each run.
//
// Model: nodes that told the same share a variant. A fact has a name of one of these kinds, in the
// order in which changes are told:
//
//   "argument --lr"   launch argument, its value ("" where it has none); masked where it is secret
//   "environment X"   variable of a list of names; masked likewise
//   "torch", "nccl", "cuda", "python", "image"   versions of what the job brings
//   "revision"        of the repository that the job was started in
//   "code"            checksum of the script and the files beside it
//   "driver", "kernel", "gpu"                    of the node
//   "nodes"           which nodes take part, made here
//
// A fact that no node of a run told is "none". Of two runs a fact has changed if the sets of its
// values differ; how many nodes have the new one is told.
//
// Thread-safety: plain values, pure functions. Errors: none. Cost: O(facts × variants).
#ifndef FATHOM_DIAGNOSIS_HISTORY_RUN_SETUP_H_
#define FATHOM_DIAGNOSIS_HISTORY_RUN_SETUP_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/model/entity.h"

namespace fathom::diagnosis {

using RunFacts = std::map<std::string, std::string>;

struct SetupVariant {
  RunFacts facts;
  std::vector<std::string> nodes;  // sorted
};

struct RunSetup {
  std::vector<SetupVariant> variants;

  std::size_t nodes() const;
  bool known() const { return !variants.empty(); }
};

struct SetupChange {
  std::string what;
  std::string before, after;
  std::size_t on = 0;  // nodes of the later run that have `after`
  std::size_t of = 0;  // all of its nodes
  bool usual = false;  // it differs from run to run anyway
};

// From `before` to `after`, what most likely matters first. `earlier`: runs before both, whose
// differences among themselves say what is usual; may be empty.
std::vector<SetupChange> ChangesBetween(const RunSetup& before, const RunSetup& after,
                                        const std::vector<RunSetup>& earlier = {});

// "driver 570.86 -> 580.11 on 12 of 64 nodes"
std::string InWords(const SetupChange& change);
// The first few of those that are not usual; empty where there is none.
std::string InWords(const std::vector<SetupChange>& changes);

// Whose doing it is.
Owner OwnerOf(const SetupChange& change);
// Whether it may mean more work by intent: an argument on batch, sequence or model size.
bool MayMeanMoreWork(const SetupChange& change);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HISTORY_RUN_SETUP_H_
