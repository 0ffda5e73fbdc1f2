// NCCL's side of its profiler-plugin interface, versions 3 to 6, as NCCL 2.26 to 2.30 play it.
//
// Used by nccl.cc and stream.cc; its members lie in profiler.cc and, for proxy threads, proxy.cc.
// It finds the newest table that it knows and the process has, hands it one process-global mask,
// raises the events of the user's calls on the caller's thread, "launched" events with a stop that
// only means "enqueued", and the channels' events from another thread with the GPU's clock. The
// quirks that a plugin must live with are kept: point-to-point tasks announce more channels than
// run; calls that are captured raise their launched events each time the graph runs, on another
// thread, with the handle of the call; AllGather and Broadcast come as bytes of int8; events whose
// handle was null stay silent. Thread-safety: thread-safe. Source: NCCL's public plugin interface.
#ifndef FATHOM_TESTS_FAKES_NCCL_PROFILER_H_
#define FATHOM_TESTS_FAKES_NCCL_PROFILER_H_

#include <cstdint>

namespace fakes::nccl {

inline constexpr int kChannels = 2;

// What the events of one op say.
struct Described {
  const char* function;
  std::size_t count;
  const char* type;
  std::size_t element_bytes;
  int peer;  // root or other end; −1 none
  void* stream;
  std::uint64_t sequence;
  bool point_to_point;
  bool captured = false;
};

// A transfer to or from one other rank on one channel. `pid`: of the process whose op it is.
struct Moved {
  int pid, channel, peer, steps;
  bool sends;
};

class Profiler {
 public:
  // The one of this process.
  static Profiler& Get();

  void* InitContext(std::uint64_t id, int ranks, int rank);
  void FinalizeContext(void* context);
  // The handle of the user's call, null where nobody wants it.
  void* StartCall(void* context, int rank, const Described& op);
  void StopCall(void* handle);
  // The handle of the launched op; its stop means "enqueued".
  void* Launch(void* context, int rank, const Described& op, void* call);
  void* StartChannel(void* context, int rank, void* task, int channel, std::uint64_t gpu_ns);
  void StopChannel(void* handle, std::uint64_t gpu_ns);

  // What the proxy thread moves for an op: version 3 tells its steps in counts, later ones each.
  // `state`: NCCL's numbers, of an op's in version 3, else of a step's.
  bool counts_steps() const { return version_ == 3; }
  void* StartTransfer(void* context, int rank, void* task, const Moved& what);
  void NoteSteps(void* transfer, int state, int steps);
  void* StartStep(void* context, int rank, void* transfer, int step);
  void NoteStep(void* step, int state);
  void Stop(void* handle);

 private:
  Profiler();
  int version_ = 0;
  void* table_ = nullptr;
  int mask_ = 0;
};

}  // namespace fakes::nccl

#endif  // FATHOM_TESTS_FAKES_NCCL_PROFILER_H_
