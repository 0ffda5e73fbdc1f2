#include "collector/store/store_keeper.h"

#include <chrono>
#include <utility>

namespace fathom::collector {

StoreKeeper::StoreKeeper(Store& store, std::function<void(const Episode&)> adopt,
                         std::function<void(const std::string&)> told)
    : store_(store), adopt_(std::move(adopt)), told_(std::move(told)) {
  thread_ = std::thread([this] { Run(); });
}

StoreKeeper::~StoreKeeper() {
  {
    const service::MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
  thread_.join();
}

void StoreKeeper::Run() {
  std::string state = store_.degraded();
  service::MutexLock lock(mutex_);
  while (!wake_.WaitFor(mutex_, std::chrono::duration<double>(kEvery_s),
                        [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_; })) {
    lock.Unlock();
    for (const Episode& episode : store_.Upkeep()) adopt_(episode);
    const std::string now = store_.degraded();
    if (now.empty() != state.empty()) told_(now);
    state = now;
    lock.Lock();
  }
}

}  // namespace fathom::collector
