// NCCL's side of one version of the profiler interface, call by call: it does what it is told, in
// any order and on any thread, and minds every answer.
//
// Used by plugin_victim.cc, in a process with libfathom.so preloaded. tests/fakes/nccl plays whole
// jobs; here a test says itself which event comes when.
// Thread-safety: thread-safe. Errors: a plugin that reports an error or leaves a handle as it was
// is counted, and named on stdout.
#ifndef FATHOM_TESTS_DAEMON_TRACER_NCCL_PROFILER_SIDE_H_
#define FATHOM_TESTS_DAEMON_TRACER_NCCL_PROFILER_SIDE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tests/daemon/tracer/nccl/nccl_event.h"

namespace fathom::nccl_side {

// A call of the user's. `type`: of NCCL's words. `peer`: root or other end.
struct Call {
  const char* function = "AllReduce";
  std::size_t count = 1024;
  std::uint8_t channels = 1;
  int peer = -1;
  const char* type = "ncclFloat32";
  std::uint64_t sequence = 0;
  bool captured = false;

  bool IsMessage() const;
  // As NCCL hands it on: all-gathers and broadcasts have become bytes.
  Call Launched() const;
};

class ProfilerSide {
 public:
  explicit ProfilerSide(int version);

  int version() const { return version_; }
  bool found() const { return table_ != nullptr; }
  int mask() const { return __atomic_load_n(&mask_, __ATOMIC_RELAXED); }
  int faults() const { return faults_.load(); }
  // Something that must hold.
  void Expect(bool holds, const char* what);

  void* Init(std::uint64_t id, int ranks, int rank);
  void Finalize(void* context);

  // Each gives the handle. Of the user's call: null before version 5.
  void* StartCall(void* context, const Call& call);
  void* StartLaunched(void* context, const Call& call, void* parent);
  void* StartChannel(void* context, void* task, int channel, std::uint64_t gpu_ns);
  void* StartTransfer(void* context, void* task, const ProxyOp& what, int rank);
  void* StartStep(void* context, void* transfer);
  void* StartOther(void* context, std::uint64_t type, void* parent);

  // The state that carries the time, where the version has it, and the stop.
  void StopChannel(void* channel, std::uint64_t gpu_ns);
  void Stop(void* handle);
  void State(void* handle, int state, void* arguments);

 private:
  void* Start(void* context, std::uint64_t type, void* parent, int rank, Event& event);

  int version_;
  const Table* table_ = nullptr;
  int mask_ = -1;
  std::atomic<int> faults_{0};
};

}  // namespace fathom::nccl_side

#endif  // FATHOM_TESTS_DAEMON_TRACER_NCCL_PROFILER_SIDE_H_
