#include "collector/serve/kept_ops_teller.h"

#include <chrono>

namespace fathom::collector {

KeptOpsTeller::KeptOpsTeller(Parts parts) : parts_(std::move(parts)) {
  thread_ = std::thread([this] { Run(); });
}

KeptOpsTeller::~KeptOpsTeller() {
  {
    const service::MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
  thread_.join();
}

void KeptOpsTeller::Run() {
  service::MutexLock lock(mutex_);
  while (true) {
    const bool last =
        wake_.WaitFor(mutex_, std::chrono::duration<double>(kEvery_s),
                      [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_; });
    lock.Unlock();
    Tell();
    lock.Lock();
    if (last) return;
  }
}

void KeptOpsTeller::Tell() {
  for (KeptStretch& each : parts_.ops.TakeStretches()) {
    to_tell_[{each.job, each.from.ns}] = {parts_.collector, each.job, each.from, each.to,
                                          std::move(each.ranks)};
  }
  for (auto at = to_tell_.begin(); at != to_tell_.end() && parts_.table.Save(at->second).ok();) {
    at = to_tell_.erase(at);
  }
  waiting_ = to_tell_.size();
  if (!to_tell_.empty()) return;
  const WallNs oldest = parts_.clock.Wall() - parts_.max_age;
  parts_.table.Forget(parts_.collector, oldest).IgnoreError();
}

}  // namespace fathom::collector
