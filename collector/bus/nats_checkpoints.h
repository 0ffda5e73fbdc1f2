// Checkpoints in a key-value bucket of NATS, kBucket: one entry a job.
//
// Made by cluster where `cluster_bus` is set. Model: an entry is the token in decimal digits, a
// newline, and the bytes. Every Put names the revision that it takes the place of (compare and
// swap); where another one is there, the entry is read: of a higher token Put is refused, of all
// others it is tried again. So nothing that a former owner writes late lands on what a later one
// has written.
//
// Thread-safety: thread-safe. Ownership: refers to the connection. Errors and cost: as
// checkpoints.h.
#ifndef FATHOM_COLLECTOR_BUS_NATS_CHECKPOINTS_H_
#define FATHOM_COLLECTOR_BUS_NATS_CHECKPOINTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "collector/bus/checkpoints.h"
#include "collector/bus/nats_bucket.h"
#include "collector/bus/nats_connection.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class NatsCheckpoints final : public Checkpoints {
 public:
  static constexpr char kBucket[] = "FATHOM_CHECKPOINTS";

  // The connection outlives it.
  static absl::StatusOr<std::unique_ptr<NatsCheckpoints>> Open(NatsConnection& connection);

  absl::Status Put(const std::string& job, Leases::Token token, std::string_view bytes) override;
  absl::StatusOr<std::string> Get(const std::string& job) override;
  void Forget(const std::string& job) override;

 private:
  struct Entry {
    std::uint64_t revision = 0;  // 0: there is none
    Leases::Token token = 0;     // 0: what is there is no checkpoint
    std::string bytes;
  };

  NatsCheckpoints() = default;
  absl::StatusOr<Entry> Read(const std::string& job);
  // AlreadyExists: another revision is there.
  absl::Status Swap(const std::string& job, std::string_view value, std::uint64_t revision);

  NatsBucket bucket_;
  service::Mutex mutex_;
  // What was written or read last, by job.
  std::map<std::string, std::uint64_t> revisions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUS_NATS_CHECKPOINTS_H_
