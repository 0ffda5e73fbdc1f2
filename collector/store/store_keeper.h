// Keeps the store in its file while nobody writes: a thread that calls Upkeep every few seconds.
//
// Owned by Collector. `adopt` is given the open verdicts of a file that could be opened only now,
// and `told` what the store's state has become, each time it changes (empty: all is well).
//
// Threads: one. Thread-safety: the store's. Ownership: refers to the store, which outlives it.
// Errors: none; the store tells. Stop path: the destructor, at once.
#ifndef FATHOM_COLLECTOR_STORE_STORE_KEEPER_H_
#define FATHOM_COLLECTOR_STORE_STORE_KEEPER_H_

#include <functional>
#include <string>
#include <thread>

#include "collector/store/store.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class StoreKeeper {
 public:
  static constexpr double kEvery_s = 5;

  StoreKeeper(Store& store, std::function<void(const Episode&)> adopt,
              std::function<void(const std::string&)> told);
  ~StoreKeeper();

 private:
  void Run();

  Store& store_;
  const std::function<void(const Episode&)> adopt_;
  const std::function<void(const std::string&)> told_;
  service::Mutex mutex_;
  service::ConditionVariable wake_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_STORE_KEEPER_H_
