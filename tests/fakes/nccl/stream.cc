#include "tests/fakes/nccl/stream.h"

#include <time.h>
#include <unistd.h>

#include <thread>
#include <utility>

FakeStream::FakeStream() {
  std::thread([this] { Run(); }).detach();
}

void FakeStream::Put(std::function<void()> work) {
  const std::lock_guard<std::mutex> lock(mutex_);
  work_.push_back(std::move(work));
  ++put_;
  changed_.notify_all();
}

void FakeStream::Synchronize() {
  std::unique_lock<std::mutex> lock(mutex_);
  const std::uint64_t until = put_;
  changed_.wait(lock, [&] { return done_ >= until; });
}

void FakeStream::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !work_.empty(); });
    const std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    lock.lock();
    ++done_;
    changed_.notify_all();
  }
}

namespace fakes::nccl {

std::uint64_t GpuNs() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  const auto ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                  static_cast<std::uint64_t>(now.tv_nsec);
  return ns + static_cast<std::uint64_t>(getpid() % 97) * 1'000'000;
}

void SleepFor(std::int64_t ns) {
  const timespec pause = {ns / 1'000'000'000, ns % 1'000'000'000};
  nanosleep(&pause, nullptr);
}

}  // namespace fakes::nccl
