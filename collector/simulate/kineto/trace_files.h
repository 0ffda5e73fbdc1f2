// A simulated job as the files that torch.profiler leaves: one compressed trace a rank, and the
// truth beside them.
//
// Used by `fathom simulate --kineto DIR`. Model: the window is what a profiler's schedule records,
// so many iterations from `first` on. The truth says for each fault what it is, where, from which
// iteration on, which ranks a verdict may name, and what it costs: the same job, with the same
// random numbers, is played once more without it.
//
// Thread-safety: pure function. Errors: kInvalidArgument for a scenario that cannot be played so
// (it hangs, or its faults lie outside of the window), kAlreadyExists for a folder that holds
// anything, kUnavailable for files that cannot be written.
// Cost: some 300 bytes a launch in memory; a trace of 64 ranks and five iterations takes seconds.
#ifndef FATHOM_COLLECTOR_SIMULATE_KINETO_TRACE_FILES_H_
#define FATHOM_COLLECTOR_SIMULATE_KINETO_TRACE_FILES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "collector/simulate/scenario/scenario.h"

namespace fathom::simulate::kineto {

struct Window {
  std::int64_t first = 0;
  std::int64_t iterations = 5;
};

struct Written {
  std::uint32_t ranks = 0;
  double seconds = 0;       // that the window lasts
  double well_seconds = 0;  // the same without faults
  std::string truth;        // as JSON, as written to truth.json
};

absl::StatusOr<Written> WriteTraces(const Scenario& scenario, const Window& window,
                                    const std::string& folder);

}  // namespace fathom::simulate::kineto

#endif  // FATHOM_COLLECTOR_SIMULATE_KINETO_TRACE_FILES_H_
