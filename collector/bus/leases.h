// Who owns which job: a lease for a time, with a token that rises with each owner.
//
// Used by cluster/ownership. Two forms: MemoryLeases (one process) and NatsLeases (a key-value
// bucket of NATS). Both pass tests/collector/bus.
//
// Model: jobs are opened by whoever hears of them and closed by their owner when they are over. Of
// a job one collector at a time holds the lease. It stands for `term` after it was taken or
// renewed, and an open job whose lease does not stand may be taken, by its holder also one whose
// lease stands: it was started again, or gave up what a late answer renewed all the same. Its
// holder must stop by itself when it could not renew for a term. The token of a lease is higher
// than those of all leases of the job before it, so that whoever keeps the history can refuse a
// former owner (fencing).
//
// HolderOf, IsMine and Jobs tell what the last Refresh saw; all else asks the store.
// Units: ns of a monotonic clock. Thread-safety: thread-safe. Errors: AlreadyExists: another holds
// it; Aborted: it is not held any more; Unavailable: the store does not answer, and nothing is
// known. Cost: a round trip, up to two seconds where the store does not answer; Refresh one, and
// what the store has of all jobs.
#ifndef FATHOM_COLLECTOR_BUS_LEASES_H_
#define FATHOM_COLLECTOR_BUS_LEASES_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/types/time_units.h"

namespace fathom::collector {

class Leases {
 public:
  using Token = std::uint64_t;

  virtual ~Leases() = default;

  virtual absl::Status Refresh() = 0;

  virtual absl::StatusOr<Token> Take(const std::string& job) = 0;
  virtual absl::Status Renew(const std::string& job) = 0;
  // So that another may take it at once. Nothing happens where it is not held any more.
  virtual void Release(const std::string& job) = 0;

  virtual absl::Status Open(const std::string& job) = 0;
  // The job is over. Its lease stays for as long as it is renewed; nobody takes it after that.
  virtual absl::Status Close(const std::string& job) = 0;
  // Drops what is known of a closed job.
  virtual void Forget(const std::string& job) = 0;

  virtual std::string HolderOf(const std::string& job) const = 0;  // empty: nobody
  virtual bool IsMine(const std::string& job) const = 0;           // a lease of ours stands
  virtual std::vector<std::string> Jobs() const = 0;               // open ones, by name
  virtual Nanos term() const = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUS_LEASES_H_
