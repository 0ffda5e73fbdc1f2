// Makes slow peers of an HTTP server cost their own connection, not everybody's.
//
// Owned by the HTTP servers of the daemons. A server of civetweb gives a thread to each connection
// for as long as its request is being sent, so that a few peers who send slowly, or nothing, keep
// everybody else out, health checks among them. Model: a thread looks at the sockets of the
// server's port. While no more than `threads` less a quarter are there nobody is disturbed. Beyond
// that, a connection that is neither being answered nor has sent anything since kGrace is shut,
// which gives its thread back at once. Who waits in the queue with a request sent is left alone.
//
//   Answering guard(slow_peers, address, port)   from the whole request until its answer is out
//
// Units: the monotonic clock. Threads: one. Thread-safety: thread-safe. Errors: none; a socket that
// cannot be asked is left alone. Cost: a look at the process's descriptors, five times a second,
// never more than a fiftieth of a core; fifty times a second while it is crowded. Stop path: the
// destructor, at once.
#ifndef FATHOM_DAEMON_SERVICE_SLOW_PEERS_H_
#define FATHOM_DAEMON_SERVICE_SLOW_PEERS_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "daemon/service/mutex.h"

namespace fathom::service {

class SlowPeers {
 public:
  static constexpr std::chrono::milliseconds kGrace{60};
  static constexpr std::chrono::milliseconds kCrowded{20};
  static constexpr std::chrono::milliseconds kCalm{200};

  // `port`: the one the server listens on; `threads`: how many it has.
  SlowPeers(int port, std::size_t threads);
  ~SlowPeers();
  SlowPeers(const SlowPeers&) = delete;
  SlowPeers& operator=(const SlowPeers&) = delete;

  class Answering {
   public:
    Answering(SlowPeers& peers, const std::string& address, int port);
    ~Answering();
    Answering(const Answering&) = delete;
    Answering& operator=(const Answering&) = delete;

   private:
    SlowPeers& peers_;
    const std::string peer_;
  };

  std::uint64_t shut() const { return shut_; }

 private:
  using Clock = std::chrono::steady_clock;

  void Run();
  // True: it is crowded.
  bool Look();
  bool ShutIfSlow(int fd, const std::string& peer, Clock::time_point now);

  const int port_;
  const std::size_t most_;
  std::atomic<std::uint64_t> shut_{0};
  std::map<std::string, Clock::time_point> silent_;  // since when; the thread's own
  Mutex mutex_;
  ConditionVariable wake_;
  std::multiset<std::string> answering_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_SLOW_PEERS_H_
