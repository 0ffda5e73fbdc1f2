// A mutex whose guarded data Clang checks: a read without the lock does not pass check_threads.
//
// Used by every class of the daemons that several threads enter. Model: std::mutex, std::lock_guard
// and std::condition_variable, with the attributes that libstdc++ does not give them. Members are
// declared ABSL_GUARDED_BY(mutex_), private functions ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_), and so
// is the lambda that a wait asks:
//
//   const service::MutexLock lock(mutex_);
//   wake_.Wait(mutex_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_; });
//
// Why not absl::Mutex: the timed waits of Debian's Abseil (20220623) end by the wall clock, so that
// a clock set back by an hour prolongs them by one, where libstdc++ goes by the monotonic clock;
// and ThreadSanitizer does not see its locks, since that library is built without it.
//
// Units: durations and clocks of std::chrono. Thread-safety: all of it; a MutexLock belongs to one
// thread. Errors: none; to lock what the same thread holds is undefined, as with std::mutex.
// Ownership: a Mutex outlives its locks. Cost: that of the std types, inlined. Source: Clang's
// thread safety analysis, by the macros of absl/base/thread_annotations.h; GCC ignores them.
#ifndef FATHOM_DAEMON_SERVICE_MUTEX_H_
#define FATHOM_DAEMON_SERVICE_MUTEX_H_

#include <absl/base/thread_annotations.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace fathom::service {

class ABSL_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  friend class ConditionVariable;
  std::mutex mutex_;
};

// Holds a mutex from here to the end of the block, or between a Lock() and an Unlock() of its own.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() {
    if (held_) mutex_.Unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Unlock() ABSL_UNLOCK_FUNCTION() {
    mutex_.Unlock();
    held_ = false;
  }
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    mutex_.Lock();
    held_ = true;
  }

 private:
  Mutex& mutex_;
  bool held_ = true;
};

// Waits with a mutex that the caller holds, which it gives up meanwhile and holds again after. A
// condition is asked under the lock; the timed waits return what it last said.
class ConditionVariable {
 public:
  void NotifyOne() { variable_.notify_one(); }
  void NotifyAll() { variable_.notify_all(); }

  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Adopted lock(mutex);
    variable_.wait(lock.held);
  }
  template <typename Condition>
  void Wait(Mutex& mutex, Condition condition) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Adopted lock(mutex);
    variable_.wait(lock.held, std::move(condition));
  }
  template <typename Rep, typename Period>
  void WaitFor(Mutex& mutex, std::chrono::duration<Rep, Period> time)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Adopted lock(mutex);
    variable_.wait_for(lock.held, time);
  }
  template <typename Rep, typename Period, typename Condition>
  bool WaitFor(Mutex& mutex, std::chrono::duration<Rep, Period> time, Condition condition)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Adopted lock(mutex);
    return variable_.wait_for(lock.held, time, std::move(condition));
  }
  template <typename Clock, typename Duration, typename Condition>
  bool WaitUntil(Mutex& mutex, std::chrono::time_point<Clock, Duration> until, Condition condition)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Adopted lock(mutex);
    return variable_.wait_until(lock.held, until, std::move(condition));
  }

 private:
  // The std lock that a std wait wants, of a mutex that is held before and after.
  struct Adopted {
    explicit Adopted(Mutex& mutex) : held(mutex.mutex_, std::adopt_lock) {}
    ~Adopted() { held.release(); }
    std::unique_lock<std::mutex> held;
  };

  std::condition_variable variable_;
};

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_MUTEX_H_
