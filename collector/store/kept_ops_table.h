// Which of several collectors keeps which ops, in the history that they share.
//
// Written by serve/kept_ops_teller, read by the API for what a collector that does not answer has.
// Model: a connection of its own, made with the first call, so that readers wait for no writer of
// the history; the table is made when it is needed. By collector, job and begin one row is kept.
//
// Thread-safety: thread-safe (one lock). Errors: Unavailable with the server's words; the next call
// tries anew. Cost: a round trip or two.
#ifndef FATHOM_COLLECTOR_STORE_KEPT_OPS_TABLE_H_
#define FATHOM_COLLECTOR_STORE_KEPT_OPS_TABLE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collector/store/database/database.h"
#include "collector/store/kept_ops.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class KeptOpsTable {
 public:
  // As Database::Open takes it.
  explicit KeptOpsTable(std::string place) : place_(std::move(place)) {}

  absl::Status Save(const KeptOps& kept);
  // What the collector kept that ended before then.
  absl::Status Forget(const std::string& collector, WallNs before);
  // By collector and begin.
  absl::StatusOr<std::vector<KeptOps>> Of(const std::string& job);

 private:
  absl::Status Ready() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string place_;
  service::Mutex mutex_;
  std::unique_ptr<Database> database_ ABSL_GUARDED_BY(mutex_);  // null: not connected yet
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_KEPT_OPS_TABLE_H_
