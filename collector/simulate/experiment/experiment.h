// Experiments: tables of many simulated jobs, each scored against its truth, beside what papers
// report for real clusters.
//
// Used by `fathom simulate --experiment NAME` and, for the table over gRPC, by fathom-fleet;
// docs/experiments.md is made of their output.
//
// Model: a run is one job with a seed of its own; the fault's rank and, where a row does not fix
// it, kind and plan are drawn from the seed. Every proportion comes with its 95 % Wilson interval.
// The jobs are synthetic: figures of papers stand beside ours as anchors, not as a race on the same
// data, and the output says so.
//
// Thread-safety: thread-compatible. Errors: kNotFound for a name that is none. Interrupted, rows
// that were begun are printed with the runs that were done, and what is left is named.
#ifndef FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_EXPERIMENT_H_
#define FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_EXPERIMENT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace fathom::simulate {

struct ExperimentOptions {
  int runs = 0;  // of a row; 0: what the experiment has by default
  std::uint64_t seed = 1;
  bool markdown = false;  // headings and explaining sentences around the tables
  std::function<double()> now;
  std::function<bool()> stopped;
  std::function<void(const std::string&)> print;
  // Gets the plots of a table, once it is printed; by the name of their files. May be empty.
  std::function<void(const std::string& name, const std::string& svg)> plot;
  // Gets what an experiment printed, once it is whole. May be empty.
  std::function<void(const std::string& title, const std::string& section)> section;
  // Prints the table over gRPC, which another program makes; false when it cannot. May be empty.
  std::function<bool(const std::function<void(const std::string&)>& print)> end_to_end;
};

std::vector<std::string> ExperimentNames();

// Runs `table` with these options, and afterwards draws and links what it printed.
void PrintAndPlot(const std::string& name, const ExperimentOptions& options,
                  const std::function<void(const ExperimentOptions&)>& table);

// One after the other. `names`: with commas, or "all".
absl::Status RunExperiments(const std::string& names, const ExperimentOptions& options);

// A page of all experiments with this section new and the others as they were in `page`, where they
// were there.
std::string PageWith(const std::string& page, const std::string& title, const std::string& section);

// True if `text` begins with the heading that a page of experiments has.
bool IsPage(std::string_view text);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_EXPERIMENT_H_
