// Printing the tables of the experiments. Used by the …_tables.cc files and by the table over gRPC.
// Thread-safety: as options.print.
#ifndef FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_TABLE_TEXT_H_
#define FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_TABLE_TEXT_H_

#include <string>
#include <vector>

#include "collector/simulate/experiment/experiment.h"
#include "collector/simulate/experiment/trial.h"

namespace fathom::simulate {

using Cells = std::vector<std::string>;

void PrintHeading(const ExperimentOptions& options, const Cells& cells);
void PrintRow(const ExperimentOptions& options, const Cells& cells);
// The first few.
void PrintStories(const ExperimentOptions& options, const Tally& tally);
// The run with the largest slowdown among those whose first verdict was not right.
void PrintWorst(const ExperimentOptions& options, const Tally& tally);
// What each run that was not told right had to show, against the noise of its job.
void PrintUntold(const ExperimentOptions& options, const Tally& tally);
// How many of the convictions of each grade were right.
void PrintGrades(const ExperimentOptions& options, const Tally& tally);

Cells Joined(Cells first, const Cells& then);
Cells MarkHeading();
Cells MarkCells(const Tally& tally);
int RunsOr(const ExperimentOptions& options, int usual);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_TABLE_TEXT_H_
