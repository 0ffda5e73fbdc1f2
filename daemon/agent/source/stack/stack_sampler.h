// Stacks of ranks: what do they do?
//
// One is owned by session/stack_watch (ranks that are silent), one by session/orders (ranks that
// were asked for); they say whose. Each looks at one process at a time; at a rank at most every
// kEvery, at most so many times in one silence as is asked for, then now and then where that is
// asked for. A rank whose thread was paused for longer than kMostPause is looked at no more.
//
// Model: Want() queues a rank; a thread runs the tool (stack_reader.h) and keeps the newest stack,
// how many samples there were and how many distinct innermost functions the last kRecent of them
// showed: a loop stays in one, work goes through many. Of natively read stacks only the functions
// of libraries tell that (LibraryFunction): the interpreter goes through many in any loop.
// Forget() ends a silence.
//
// Thread-safety: Want, Latest, Forget on the poll loop; the thread is the sampler's own.
// Ownership: owns the thread; the destructor ends a running tool.
// Errors: a sample that fails leaves `error`, and the stack of the one before.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_STACK_STACK_SAMPLER_H_
#define FATHOM_DAEMON_AGENT_SOURCE_STACK_STACK_SAMPLER_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/agent/source/stack/stack_reading.h"
#include "daemon/service/mutex.h"

namespace fathom::agent {

struct StackView {
  StackReading newest;
  std::uint32_t samples = 0;
  std::uint32_t functions = 0;  // distinct innermost ones of the last; 0: not known
  Nanos longest_pause;          // of all samples
  bool given_up = false;        // that was too long: there will be no more
  std::string error;
};

struct SamplePlan {
  std::uint32_t most = 0;          // every kEvery
  std::int64_t then_every_ns = 0;  // after those; 0: no more
};

class StackSampler {
 public:
  static constexpr std::int64_t kEveryNs = 2'000'000'000;
  static constexpr std::size_t kRecent = 6;
  static constexpr Nanos kMostPause{50'000'000};

  // What reads the stack of a process; `stop` asks it to give up.
  using Tool =
      std::function<absl::StatusOr<StackReading>(std::uint32_t pid, const std::atomic<bool>& stop)>;

  explicit StackSampler(Tool tool);
  StackSampler(const StackSampler&) = delete;
  StackSampler& operator=(const StackSampler&) = delete;
  ~StackSampler();

  // `ring` names the rank's session; nothing happens where the plan has no look now.
  void Want(const std::string& ring, std::uint32_t pid, SamplePlan plan, std::int64_t now_ns);
  std::optional<StackView> Latest(const std::string& ring) const;
  void Forget(const std::string& ring);

 private:
  struct Kept {
    StackView view;
    std::deque<std::string> innermost;  // of the last samples
    std::int64_t asked_ns = 0;
    std::uint32_t asked = 0;
  };
  struct Job {
    std::string ring;
    std::uint32_t pid = 0;
  };

  void Run();
  void Keep(const Job& job, absl::StatusOr<StackReading> reading)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Tool tool_;
  std::atomic<bool> stop_{false};
  mutable service::Mutex mutex_;
  service::ConditionVariable wake_;
  std::deque<Job> queue_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Kept> kept_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_STACK_STACK_SAMPLER_H_
