// Tells the history which ops this collector of several keeps, so that the others can say what an
// answer lacks while it is away.
//
// Owned by Collector where there is a cluster and a store of ops. Model: every kEvery the stretches
// that went on are written; what cannot be written is written with the next ones. So a collector
// that is killed may have told kEvery less than it keeps. What is older than the store keeps
// anything is taken back.
//
// Threads: one. Thread-safety: the parts'. Ownership: refers to both, which outlive it. Errors:
// waiting() counts. Cost: a write a job every kEvery. Stop path: the destructor, which
// writes once more.
#ifndef FATHOM_COLLECTOR_SERVE_KEPT_OPS_TELLER_H_
#define FATHOM_COLLECTOR_SERVE_KEPT_OPS_TELLER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "collector/ops/op_store.h"
#include "collector/process/clock.h"
#include "collector/store/kept_ops_table.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class KeptOpsTeller {
 public:
  static constexpr double kEvery_s = 10;

  struct Parts {
    OpStore& ops;
    KeptOpsTable& table;
    const Clock& clock;
    std::string collector;  // its name
    Nanos max_age;          // of what the store of ops keeps
  };

  explicit KeptOpsTeller(Parts parts);
  ~KeptOpsTeller();
  KeptOpsTeller(const KeptOpsTeller&) = delete;
  KeptOpsTeller& operator=(const KeptOpsTeller&) = delete;

  std::size_t waiting() const { return waiting_; }  // stretches that are not written yet

 private:
  void Run();
  void Tell();

  const Parts parts_;
  std::map<std::pair<std::string, std::int64_t>, KeptOps> to_tell_;  // of the thread; job, begin
  std::atomic<std::size_t> waiting_{0};
  service::Mutex mutex_;
  service::ConditionVariable wake_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_SERVE_KEPT_OPS_TELLER_H_
