#include "daemon/agent/capture/busy_threads.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

namespace fathom::agent {
namespace {

std::uint32_t ThisThread() { return static_cast<std::uint32_t>(syscall(SYS_gettid)); }

TEST(BusyThreads, AreThoseThatUsedACoreAndDoNotTrain) {
  std::atomic<std::uint32_t> busy{0}, idle{0};
  std::atomic<bool> stop{false};
  std::thread spins([&] {
    busy = ThisThread();
    while (!stop) {
    }
  });
  std::thread sleeps([&] {
    idle = ThisThread();
    while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  while (busy == 0 || idle == 0) std::this_thread::yield();
  const BusyThreads threads(KernelRoots{}, static_cast<std::uint32_t>(getpid()));
  // On a full machine it takes a while until it has had its part of a core.
  std::set<std::uint32_t> found;
  for (int i = 0; i < 200 && !found.contains(busy); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    found = threads.Take(ThisThread());
  }
  stop = true;
  spins.join();
  sleeps.join();
  EXPECT_TRUE(found.contains(busy));
  EXPECT_FALSE(found.contains(idle));
  EXPECT_FALSE(found.contains(ThisThread()));
  EXPECT_TRUE(threads.Take(busy).empty());
}

TEST(BusyThreads, OfAProcessThatIsGoneThereAreNone) {
  EXPECT_TRUE(BusyThreads(KernelRoots{}, 0x7fffffff).Take(0).empty());
}

}  // namespace
}  // namespace fathom::agent
