// Checkpoints within one process: for tests with several collectors, and as the measure of
// NatsCheckpoints.
//
// One object is shared by all who take part, and keeps what it has as long as it lives.
// Thread-safety and errors: as checkpoints.h. Cost: a lock.
#ifndef FATHOM_COLLECTOR_BUS_MEMORY_CHECKPOINTS_H_
#define FATHOM_COLLECTOR_BUS_MEMORY_CHECKPOINTS_H_

#include <absl/strings/str_cat.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "collector/bus/checkpoints.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class MemoryCheckpoints final : public Checkpoints {
 public:
  absl::Status Put(const std::string& job, Leases::Token token, std::string_view bytes) override {
    const service::MutexLock lock(mutex_);
    auto& [of, kept] = jobs_[job];
    if (of > token) return absl::AbortedError(absl::StrCat(job, ": token ", of, " is there"));
    of = token;
    kept = bytes;
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Get(const std::string& job) override {
    const service::MutexLock lock(mutex_);
    const auto at = jobs_.find(job);
    if (at == jobs_.end()) return absl::NotFoundError(absl::StrCat("no checkpoint of ", job));
    return at->second.second;
  }
  void Forget(const std::string& job) override {
    const service::MutexLock lock(mutex_);
    jobs_.erase(job);
  }

 private:
  service::Mutex mutex_;
  std::map<std::string, std::pair<Leases::Token, std::string>> jobs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUS_MEMORY_CHECKPOINTS_H_
