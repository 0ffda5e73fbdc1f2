// A job in miniature whose NCCL is a ProfilerSide: communicators, calls through the hooks, and what
// NCCL would raise inside of them and after.
//
// Used by plugin_victim.cc and plugin_traps.cc. Thread-safety: as ProfilerSide; calls of one
// communicator are the caller's to serialise.
#ifndef FATHOM_TESTS_DAEMON_TRACER_NCCL_PLUGIN_JOB_H_
#define FATHOM_TESTS_DAEMON_TRACER_NCCL_PLUGIN_JOB_H_

#include <functional>
#include <string>
#include <vector>

#include "tests/daemon/tracer/nccl/profiler_side.h"
#include "tests/daemon/tracer/nccl/stage.h"

namespace fathom::nccl_side {

// On a channel, by the GPU's clock.
struct Span {
  std::uint64_t start_ns, end_ns;
};

class Job {
 public:
  explicit Job(int version);

  // A communicator of `ranks`, this process being rank 1 (0 of one).
  StageComm* Make(int ranks);
  // As NCCL does where it makes a communicator on a thread of its own.
  void MakeContextsElsewhere() { elsewhere_ = true; }
  // As with blocking = 0: calls come back before NCCL has begun with them.
  void AnswerInProgress();

  // The call, through its hook; `inside` is what happens inside of it.
  void Api(StageComm* comm, const Call& call, const std::function<void()>& inside = nullptr);
  // The same, enqueued inside: the task.
  void* Enqueue(StageComm* comm, const Call& call);
  // The calls of one group, launched in `order` as it ends: the tasks by call.
  std::vector<void*> Group(StageComm* comm, const std::vector<Call>& calls,
                           const std::vector<std::size_t>& order);
  void End(const std::function<void()>& inside, int (*end)());

  // All channels start, then all stop.
  void Run(StageComm* comm, void* task, const std::vector<Span>& channels);
  void EnqueueAndRun(const Call& call, Span span) { Run(world, Enqueue(world, call), {span}); }

  ProfilerSide side;
  StageComm* world = nullptr;

 private:
  bool elsewhere_ = false;
  int answer_ = 0;
};

// By name; null where there is none. What each does stands beside it.
using Trap = void (*)(Job& job);
Trap TrapOf(const std::string& name);

}  // namespace fathom::nccl_side

#endif  // FATHOM_TESTS_DAEMON_TRACER_NCCL_PLUGIN_JOB_H_
