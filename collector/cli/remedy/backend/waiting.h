// How a back-end waits for what it ordered: it looks, pauses and looks again until a time is over.
//
// Used by TorchrunBackend and RequeueBackend. Model: the time is the monotonic clock's, so that
// looks count, each of which may take as long as an ssh or a scontrol that gets no answer. There is
// a last look when the time is over.
//
// Units: seconds. Thread-safety: as the functions are. Errors: those of the look; Cancelled when
// somebody wants to stop. Cost: at most one look longer than the time.
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_WAITING_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_WAITING_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <functional>

#include "proto/types/time_units.h"

namespace fathom::cli {

struct Waiting {
  std::function<bool(std::chrono::milliseconds)> pause;  // false: somebody wants to stop
  std::function<MonoNs()> now;
};

// Whether `look` says true within the time.
absl::StatusOr<bool> ComesToBe(const Waiting& waiting, double within_s,
                               const std::function<absl::StatusOr<bool>()>& look);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_WAITING_H_
