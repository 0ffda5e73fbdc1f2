// The newest checkpoint of each job, as its owner wrote it.
//
// Used by cluster/checkpoint_keeper. Two forms: MemoryCheckpoints (one process) and NatsCheckpoints
// (a key-value bucket of NATS). Both pass tests/collector/bus.
//
// Model: one value a job, with the token of the lease under which it was written. A value takes the
// place only of one whose token is not higher, whoever is slow: an owner that is none any more
// changes nothing once the next one has written (leases.h). A value that nobody wrote anew for
// kKept may be gone.
//
// Units: bytes. Thread-safety: thread-safe. Errors: NotFound: there is none; Aborted: a later
// owner's is there; DataLoss: what is there is none; Unavailable: the store does not answer. Cost:
// a round trip, up to two seconds where it does not answer; another one for the first Put of a job.
#ifndef FATHOM_COLLECTOR_BUS_CHECKPOINTS_H_
#define FATHOM_COLLECTOR_BUS_CHECKPOINTS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "collector/bus/leases.h"

namespace fathom::collector {

class Checkpoints {
 public:
  static constexpr Nanos kKept{24 * 3600 * std::int64_t{1'000'000'000}};

  virtual ~Checkpoints() = default;

  virtual absl::Status Put(const std::string& job, Leases::Token token, std::string_view bytes) = 0;
  virtual absl::StatusOr<std::string> Get(const std::string& job) = 0;
  // The job is over.
  virtual void Forget(const std::string& job) = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUS_CHECKPOINTS_H_
