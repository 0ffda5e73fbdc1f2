#include "collector/bus/memory_bus.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "daemon/service/mutex.h"

namespace fathom::collector {

struct MemoryBus::Ear {
  service::Mutex mutex;  // held while it is called
  bool open ABSL_GUARDED_BY(mutex) = true;
  // Set before anybody else knows of it.
  OnKept on_kept;
  OnWord on_word;
  OnAsked on_asked;
};

class MemoryBus::Held final : public Hearing {
 public:
  Held(MemoryBus& bus, Ears& ears, std::shared_ptr<Ear> ear)
      : bus_(bus), ears_(ears), ear_(std::move(ear)) {}
  ~Held() override {
    {
      const service::MutexLock lock(bus_.mutex_);
      std::erase_if(ears_, [this](const auto& each) { return each.second == ear_; });
    }
    const service::MutexLock lock(ear_->mutex);
    ear_->open = false;
  }

 private:
  MemoryBus& bus_;
  Ears& ears_;
  const std::shared_ptr<Ear> ear_;
};

MemoryBus::MemoryBus() : thread_([this] { Run(); }) {}

MemoryBus::~MemoryBus() {
  {
    const service::MutexLock lock(mutex_);
    stop_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
}

void MemoryBus::Run() {
  service::MutexLock lock(mutex_);
  while (true) {
    wake_.Wait(mutex_,
               [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || !calls_.empty(); });
    if (stop_) return;
    const std::function<void()> call = std::move(calls_.front());
    calls_.pop_front();
    lock.Unlock();
    call();
    lock.Lock();
  }
}

void MemoryBus::Later(std::function<void()> call) {
  calls_.push_back(std::move(call));
  wake_.NotifyOne();
}

std::unique_ptr<Hearing> MemoryBus::Add(Ears& ears, const std::string& name,
                                        std::shared_ptr<Ear> ear) {
  ears.emplace(name, ear);
  return std::make_unique<Held>(*this, ears, std::move(ear));
}

std::uint64_t MemoryBus::Append(const Place& place, std::string bytes) {
  const service::MutexLock lock(mutex_);
  const std::uint64_t sequence = ++sequence_;
  Log& log = logs_[place.job];
  std::deque<std::uint64_t>& of_place = log.places[place.key];
  of_place.push_back(sequence);
  if (of_place.size() > static_cast<std::size_t>(kRecordsOfPlace)) {
    log.records.erase(of_place.front());
    of_place.pop_front();
  }
  const auto [begin, end] = followers_.equal_range(place.job);
  for (auto at = begin; at != end; ++at) {
    Later([ear = at->second, sequence, bytes] {
      const service::MutexLock held(ear->mutex);
      if (ear->open) ear->on_kept({sequence, 0, bytes});
    });
  }
  log.records[sequence] = {place.key, std::move(bytes)};
  return sequence;
}

bool MemoryBus::WhenDurable(std::uint64_t, std::function<void()>) { return false; }

absl::StatusOr<std::unique_ptr<Hearing>> MemoryBus::Follow(const std::string& job, OnKept on_kept,
                                                           std::function<void()> caught_up) {
  const auto ear = std::make_shared<Ear>();
  ear->on_kept = std::move(on_kept);
  const service::MutexLock lock(mutex_);
  std::vector<std::pair<std::uint64_t, std::string>> old;
  for (const auto& [sequence, record] : logs_[job].records) {
    old.emplace_back(sequence, record.second);
  }
  Later([ear, old = std::move(old), caught_up = std::move(caught_up)] {
    const service::MutexLock held(ear->mutex);
    for (std::size_t i = 0; ear->open && i < old.size(); ++i) {
      ear->on_kept({old[i].first, old.size() - 1 - i, old[i].second});
    }
    if (ear->open) caught_up();
  });
  return Add(followers_, job, ear);
}

void MemoryBus::Forget(const std::string& job, std::uint64_t before) {
  const service::MutexLock lock(mutex_);
  Log& log = logs_[job];
  log.records.erase(log.records.begin(), log.records.lower_bound(before));
  for (auto& [key, sequences] : log.places) {
    while (!sequences.empty() && sequences.front() < before) sequences.pop_front();
  }
  std::erase_if(log.places, [](const auto& each) { return each.second.empty(); });
  if (log.records.empty()) logs_.erase(job);
}

void MemoryBus::Tell(const std::string& topic, std::string_view bytes) {
  const service::MutexLock lock(mutex_);
  const auto [begin, end] = hearers_.equal_range(topic);
  for (auto at = begin; at != end; ++at) {
    Later([ear = at->second, text = std::string(bytes)] {
      const service::MutexLock held(ear->mutex);
      if (ear->open) ear->on_word(text);
    });
  }
}

absl::StatusOr<std::unique_ptr<Hearing>> MemoryBus::Hear(const std::string& topic, OnWord on_word) {
  const auto ear = std::make_shared<Ear>();
  ear->on_word = std::move(on_word);
  const service::MutexLock lock(mutex_);
  return Add(hearers_, topic, ear);
}

absl::StatusOr<std::string> MemoryBus::Ask(const std::string& name, std::string_view bytes, Nanos) {
  std::shared_ptr<Ear> ear;
  {
    const service::MutexLock lock(mutex_);
    const auto at = answerers_.find(name);
    if (at != answerers_.end()) ear = at->second;
  }
  if (ear == nullptr) return absl::NotFoundError(absl::StrCat("nobody answers to ", name));
  const service::MutexLock held(ear->mutex);
  if (!ear->open) return absl::NotFoundError(absl::StrCat(name, " has left"));
  return ear->on_asked(bytes);
}

absl::StatusOr<std::unique_ptr<Hearing>> MemoryBus::Answer(const std::string& name,
                                                           OnAsked on_asked) {
  const auto ear = std::make_shared<Ear>();
  ear->on_asked = std::move(on_asked);
  const service::MutexLock lock(mutex_);
  return Add(answerers_, name, ear);
}

BusCounters MemoryBus::counters() const {
  const service::MutexLock lock(mutex_);
  BusCounters counters;
  counters.appended = sequence_;
  return counters;
}

}  // namespace fathom::collector
