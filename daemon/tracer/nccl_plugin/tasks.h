// Ops that NCCL has launched and whose channels are not all done: from the kernel events of single
// channels to one start and one end of the op.
//
// Used by plugin.cc. A task is one Coll or P2p event of NCCL; NCCL's stopEvent of it means
// "enqueued". It runs on several channels, each told by a kernel-channel event with the GPU's
// clock.
//
//   StartChannel ─ first: kGpuStart        started 1 2 3 3 3
//   StopChannel  ─ all done: kGpuEnd       stopped 0 0 0 1 2 3
//
// Model: a task ends when as many channels stopped as it was said to have. That number is not
// reliable for point-to-point tasks, and version 3 has only an upper bound: such a task (`expected`
// 0) ends whenever all that started have stopped, and the reader takes the last end. A table of
// kTasks places is used in turn; a task that never ends is overwritten kTasks later, and what still
// comes for it is counted and dropped. So nothing leaks, whatever NCCL leaves out.
// Handles carry place, generation and channel, so NCCL keeps no pointer of ours.
//
// Thread-safety: thread-safe, lock-free; events of one task may come on several threads.
// Cost: hot path; one or two compare-and-swaps an event. Zero-filled memory is an empty table.
#ifndef FATHOM_DAEMON_TRACER_NCCL_PLUGIN_TASKS_H_
#define FATHOM_DAEMON_TRACER_NCCL_PLUGIN_TASKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "daemon/tracer/core/op_recorder.h"

namespace fathom::tracer::nccl_plugin {

inline constexpr std::size_t kTasks = 2048;

// What a handle stands for. NCCL passes handles back as they are; 0 is "no event".
enum class HandleTag : std::uint64_t {
  kNone = 0,
  kCall = 1,
  kTask = 2,
  kChannel = 3,
  kTransfer = 4,
  kStep = 5,
};

//   bit  0..2 tag   3 captured   16..31 place   32..63 generation   (call that was captured: of
//                                                                    CapturedOp; and all others)
//   bit  0..2 tag   3 captured   16..63 op_id                       (call)
struct Handle {
  std::uint64_t bits = 0;

  static Handle OfCall(std::uint64_t op_id) {
    return {static_cast<std::uint64_t>(HandleTag::kCall) | op_id << 16};
  }
  static Handle OfCapturedCall(std::uint64_t place, std::uint32_t generation) {
    return {static_cast<std::uint64_t>(HandleTag::kCall) | 8u | place << 16 |
            std::uint64_t{generation} << 32};
  }
  static Handle OfTask(std::uint64_t place, std::uint32_t generation) {
    return {static_cast<std::uint64_t>(HandleTag::kTask) | place << 16 |
            std::uint64_t{generation} << 32};
  }
  static Handle OfTransfer(std::uint64_t place, std::uint32_t generation) {
    return {static_cast<std::uint64_t>(HandleTag::kTransfer) | place << 16 |
            std::uint64_t{generation} << 32};
  }
  Handle Channel() const { return As(HandleTag::kChannel); }
  Handle Step() const { return As(HandleTag::kStep); }
  static Handle From(const void* raw) { return {reinterpret_cast<std::uint64_t>(raw)}; }
  void* raw() const { return reinterpret_cast<void*>(bits); }

  HandleTag tag() const { return static_cast<HandleTag>(bits & 7); }
  bool captured() const { return (bits & 8) != 0; }
  std::uint64_t op_id() const { return bits >> 16; }
  std::uint64_t place() const { return bits >> 16 & 0xffff; }
  std::uint32_t generation() const { return static_cast<std::uint32_t>(bits >> 32); }

 private:
  Handle As(HandleTag tag) const {
    return {(bits & ~std::uint64_t{7}) | static_cast<std::uint64_t>(tag)};
  }
};

// Begins a task of `op` with `expected` channels, 0: not known.
Handle StartTask(const OpRef& op, std::uint8_t expected);
// The op of a task; op_id 0 if the task is no more.
OpRef OpOfTask(Handle task);

// A channel of `task` began at `gpu_ns` (0: not told). False if the task is no more.
bool StartChannel(const TracerState& state, Handle task, std::uint64_t gpu_ns);
// The time at which a channel stopped; comes before StopChannel, or not at all.
bool NoteChannelEnd(Handle channel, std::uint64_t gpu_ns);
bool StopChannel(const TracerState& state, Handle channel);

}  // namespace fathom::tracer::nccl_plugin

#endif  // FATHOM_DAEMON_TRACER_NCCL_PLUGIN_TASKS_H_
