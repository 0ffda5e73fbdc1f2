// The experiment over gRPC: how long a real collector takes to localise, and what it moves.
//
// Called by fathom-fleet. Prints a table as the other experiments do.
// Thread-safety: of one thread. Errors: kUnavailable when there is no collector to start.
#ifndef FATHOM_COLLECTOR_FLEET_END_TO_END_H_
#define FATHOM_COLLECTOR_FLEET_END_TO_END_H_

#include <cstdint>

#include "absl/status/status.h"
#include "collector/cli/process/signal_gate.h"
#include "collector/simulate/experiment/experiment.h"

namespace fathom::simulate {

// `ranks`: one scale only; 0: all of the table.
absl::Status EndToEnd(const ExperimentOptions& options, std::uint32_t ranks,
                      const cli::SignalGate& gate);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_FLEET_END_TO_END_H_
