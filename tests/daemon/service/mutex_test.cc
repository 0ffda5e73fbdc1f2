// The annotated mutex behaves as the std types under it: what is waited for, and who holds it
// after.
#include "daemon/service/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace fathom::service {
namespace {

constexpr std::chrono::milliseconds kShort{5};
constexpr std::chrono::hours kNever{1};

struct Shared {
  Mutex mutex;
  ConditionVariable wake;
  int turn ABSL_GUARDED_BY(mutex) = 0;
  int sum ABSL_GUARDED_BY(mutex) = 0;
};

TEST(MutexTest, OneThreadAtATime) {
  Shared shared;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&shared] {
      for (int k = 0; k < 5000; ++k) {
        const MutexLock lock(shared.mutex);
        ++shared.sum;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const MutexLock lock(shared.mutex);
  EXPECT_EQ(shared.sum, 20'000);
}

TEST(MutexTest, ALockThatWasLetGoIsNotLetGoAgain) {
  Shared shared;
  {
    MutexLock lock(shared.mutex);
    lock.Unlock();
    std::thread([&shared] {
      const MutexLock other(shared.mutex);
      shared.turn = 1;
    }).join();
  }
  {
    MutexLock lock(shared.mutex);
    lock.Unlock();
    lock.Lock();
    EXPECT_EQ(shared.turn, 1);
  }
  const MutexLock lock(shared.mutex);  // ends only if the ones above let it go
  EXPECT_EQ(shared.turn, 1);
}

TEST(ConditionVariableTest, GivesTheMutexUpWhileItWaitsAndHoldsItAfter) {
  Shared shared;
  std::thread other([&shared] {
    const MutexLock lock(shared.mutex);
    shared.turn = 1;
    shared.wake.NotifyAll();
  });
  {
    const MutexLock lock(shared.mutex);
    shared.wake.Wait(shared.mutex, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(shared.mutex) {
      return shared.turn == 1;
    });
    shared.turn = 2;
  }
  other.join();
  const MutexLock lock(shared.mutex);
  EXPECT_EQ(shared.turn, 2);
}

TEST(ConditionVariableTest, ATimedWaitTellsWhetherWhatItWaitedForCame) {
  Shared shared;
  const MutexLock lock(shared.mutex);
  const auto came = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(shared.mutex) { return shared.turn == 1; };
  EXPECT_FALSE(shared.wake.WaitFor(shared.mutex, kShort, came));
  EXPECT_FALSE(shared.wake.WaitUntil(shared.mutex, std::chrono::steady_clock::now(), came));
  shared.wake.WaitFor(shared.mutex, kShort);
  shared.turn = 1;
  EXPECT_TRUE(shared.wake.WaitFor(shared.mutex, kNever, came)) << "it is there already";
  EXPECT_TRUE(shared.wake.WaitUntil(shared.mutex, std::chrono::steady_clock::now(), came));
}

TEST(ConditionVariableTest, NotifyingOneWakesAWaiter) {
  Shared shared;
  std::thread other([&shared] {
    const MutexLock lock(shared.mutex);
    ++shared.turn;
    shared.wake.NotifyOne();
  });
  {
    const MutexLock lock(shared.mutex);
    EXPECT_TRUE(shared.wake.WaitFor(
        shared.mutex, kNever,
        [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(shared.mutex) { return shared.turn > 0; }));
  }
  other.join();
}

}  // namespace
}  // namespace fathom::service
