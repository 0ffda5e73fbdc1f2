// Leases in a key-value bucket of NATS, kBucket: one entry a job.
//
// Made by cluster where `cluster_bus` is set. Model: an entry is "o" (open) or "c" (closed) and the
// holder's name, or nothing where it was released. Every change names the revision that it changes
// (compare and swap), so that of two who take a lease one does. An entry that keeps its revision
// for a term, as this collector's monotonic clock has it, stands no more: no two clocks are
// compared, and no server has to forget in time (what replicated buckets of nats-server 2.9 do
// late, nats-io/nats-server#3653). A token is the revision at which a lease was taken.
//
// Thread-safety: thread-safe. Ownership: refers to the connection. Errors: as leases.h. Cost:
// Refresh reads the newest value of each key through an ephemeral consumer.
#ifndef FATHOM_COLLECTOR_BUS_NATS_LEASES_H_
#define FATHOM_COLLECTOR_BUS_NATS_LEASES_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/bus/leases.h"
#include "collector/bus/nats_bucket.h"
#include "collector/bus/nats_connection.h"
#include "collector/process/clock.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class NatsLeases final : public Leases {
 public:
  static constexpr char kBucket[] = "FATHOM_JOBS";

  // The connection outlives it.
  static absl::StatusOr<std::unique_ptr<NatsLeases>> Open(NatsConnection& connection,
                                                          std::string holder, Nanos term,
                                                          const Clock& clock);

  absl::Status Refresh() override;
  absl::StatusOr<Token> Take(const std::string& job) override;
  absl::Status Renew(const std::string& job) override;
  void Release(const std::string& job) override;
  absl::Status Open(const std::string& job) override;
  absl::Status Close(const std::string& job) override;
  void Forget(const std::string& job) override;
  std::string HolderOf(const std::string& job) const override;
  bool IsMine(const std::string& job) const override { return HolderOf(job) == holder_; }
  std::vector<std::string> Jobs() const override;
  Nanos term() const override { return term_; }

 private:
  struct Entry {
    bool open = true;
    std::string holder;  // empty: nobody
    std::uint64_t revision = 0;
    MonoNs since;  // when this revision was first seen here
  };

  NatsLeases(std::string holder, Nanos term, const Clock& clock)
      : holder_(std::move(holder)), term_(term), clock_(clock) {}
  static Entry EntryOf(std::string_view value, std::uint64_t revision);
  static std::string ValueOf(bool open, const std::string& holder);
  bool Stands(const Entry& entry) const;
  absl::StatusOr<std::map<std::string, Entry>> ReadAll();
  // Writes the entry in place of `revision`; AlreadyExists: it has changed meanwhile.
  absl::Status Swap(const std::string& job, bool open, const std::string& holder,
                    std::uint64_t revision);
  // The entry that this holder wrote last; Aborted: it is not there any more.
  absl::StatusOr<Entry> Mine(const std::string& job) const;

  const std::string holder_;
  const Nanos term_;
  const Clock& clock_;
  NatsBucket bucket_;
  mutable service::Mutex mutex_;
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUS_NATS_LEASES_H_
