// The bus within one process: for tests with several collectors, and as the measure of NatsBus.
//
// One object is shared by all who take part. Model: see bus.h. Records are durable as soon as they
// are appended, and gone with the object. Thread-safety: as bus.h. Threads: one that calls back.
// Errors: NotFound where nobody answers to a name. Cost: a copy a listener.
#ifndef FATHOM_COLLECTOR_BUS_MEMORY_BUS_H_
#define FATHOM_COLLECTOR_BUS_MEMORY_BUS_H_

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "collector/bus/bus.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class MemoryBus final : public Bus {
 public:
  MemoryBus();
  ~MemoryBus() override;

  std::uint64_t Append(const Place& place, std::string bytes) override;
  [[nodiscard]] bool WhenDurable(std::uint64_t record, std::function<void()> done) override;
  absl::StatusOr<std::unique_ptr<Hearing>> Follow(const std::string& job, OnKept on_kept,
                                                  std::function<void()> caught_up) override;
  void Forget(const std::string& job, std::uint64_t before) override;
  void Tell(const std::string& topic, std::string_view bytes) override;
  absl::StatusOr<std::unique_ptr<Hearing>> Hear(const std::string& topic, OnWord on_word) override;
  absl::StatusOr<std::string> Ask(const std::string& name, std::string_view bytes,
                                  Nanos patience) override;
  absl::StatusOr<std::unique_ptr<Hearing>> Answer(const std::string& name,
                                                  OnAsked on_asked) override;
  std::string failing() const override { return ""; }
  BusCounters counters() const override;

 private:
  struct Log {
    std::map<std::uint64_t, std::pair<std::string, std::string>> records;  // key, bytes
    std::map<std::string, std::deque<std::uint64_t>> places;
  };
  struct Ear;  // what is called, until its Hearing is gone
  class Held;
  using Ears = std::multimap<std::string, std::shared_ptr<Ear>>;

  std::unique_ptr<Hearing> Add(Ears& ears, const std::string& name, std::shared_ptr<Ear> ear);
  void Later(std::function<void()> call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();

  mutable service::Mutex mutex_;
  service::ConditionVariable wake_;
  std::map<std::string, Log> logs_ ABSL_GUARDED_BY(mutex_);
  Ears followers_ ABSL_GUARDED_BY(mutex_);
  Ears hearers_ ABSL_GUARDED_BY(mutex_);
  Ears answerers_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::function<void()>> calls_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUS_MEMORY_BUS_H_
