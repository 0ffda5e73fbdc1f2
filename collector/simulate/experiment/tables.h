// The tables of the experiments, one function each.
//
// Called by experiment; HolmesSeconds by the table over gRPC too. Each prints a table in Markdown,
// row by row as they are done, and after it the runs that went wrong.
// Thread-safety: thread-compatible.
#ifndef FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_TABLES_H_
#define FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_TABLES_H_

#include <cstdint>

#include "collector/simulate/experiment/experiment.h"

namespace fathom::simulate {

// How long Holmes took to localise at so many ranks (NSDI'25), as a cell.
constexpr const char* HolmesSeconds(std::uint32_t ranks) {
  return ranks == 2048 ? "15.5" : ranks == 8192 ? "30.3" : "–";
}

void ByScale(const ExperimentOptions& options);
void ByDimensions(const ExperimentOptions& options);
void ByKind(const ExperimentOptions& options);
void ByDevice(const ExperimentOptions& options);
void BySize(const ExperimentOptions& options);
void TwoAtOnce(const ExperimentOptions& options);
void ByShape(const ExperimentOptions& options);
void FalseAlarms(const ExperimentOptions& options);
void ByClass(const ExperimentOptions& options);
void CostByScale(const ExperimentOptions& options);
// Of a model, not of jobs that are played.
void MigrationByScale(const ExperimentOptions& options);
// By options.end_to_end.
void OverTheNetwork(const ExperimentOptions& options);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_TABLES_H_
