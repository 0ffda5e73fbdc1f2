// Leases within one process: for tests with several collectors, and as the measure of NatsLeases.
//
// A MemoryLeaseBook is shared; each collector has MemoryLeases of it in its own name. Time: the
// book's clock. Thread-safety and errors: as leases.h. Cost: a lock.
#ifndef FATHOM_COLLECTOR_BUS_MEMORY_LEASES_H_
#define FATHOM_COLLECTOR_BUS_MEMORY_LEASES_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collector/bus/leases.h"
#include "collector/process/clock.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class MemoryLeaseBook {
 public:
  MemoryLeaseBook(const Clock& clock, Nanos term) : clock_(clock), term_(term) {}

 private:
  friend class MemoryLeases;
  struct Entry {
    bool open = true;
    std::string holder;  // empty: nobody
    Leases::Token token = 0;
    MonoNs until;
  };
  bool Stands(const Entry& entry) const {
    return !entry.holder.empty() && clock_.Mono() < entry.until;
  }

  const Clock& clock_;
  const Nanos term_;
  mutable service::Mutex mutex_;
  std::map<std::string, Entry> jobs_ ABSL_GUARDED_BY(mutex_);
  Leases::Token newest_ ABSL_GUARDED_BY(mutex_) = 0;
};

class MemoryLeases final : public Leases {
 public:
  // The book outlives it.
  MemoryLeases(MemoryLeaseBook& book, std::string holder)
      : book_(book), holder_(std::move(holder)) {}

  absl::Status Refresh() override { return absl::OkStatus(); }
  absl::StatusOr<Token> Take(const std::string& job) override;
  absl::Status Renew(const std::string& job) override;
  void Release(const std::string& job) override;
  absl::Status Open(const std::string& job) override;
  absl::Status Close(const std::string& job) override;
  void Forget(const std::string& job) override;
  std::string HolderOf(const std::string& job) const override;
  bool IsMine(const std::string& job) const override { return HolderOf(job) == holder_; }
  std::vector<std::string> Jobs() const override;
  Nanos term() const override { return book_.term_; }

 private:
  // The entry that this holder has. Null: it has none.
  MemoryLeaseBook::Entry* Mine(const std::string& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(book_.mutex_);

  MemoryLeaseBook& book_;
  const std::string holder_;
  std::map<std::string, Token> held_ ABSL_GUARDED_BY(book_.mutex_);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUS_MEMORY_LEASES_H_
