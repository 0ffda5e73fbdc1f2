// The calls of c10d::ProcessGroupGloo that a job makes: one shim a name of symbols.h.
#include "daemon/tracer/core/op_recorder.h"
#include "daemon/tracer/interpose/gloo/buffer_size.h"
#include "daemon/tracer/interpose/gloo/symbols.h"
#include "daemon/tracer/interpose/gloo/work_ptr.h"
#include "daemon/tracer/interpose/real_symbol.h"
#include "daemon/tracer/interpose/unwind.h"

namespace fathom::tracer {
namespace {

using Kind = CollectiveKind;

// What a call is given, as buffer_size.h has it.
struct Buffer {
  BufferForm form = BufferForm::kNone;
  const void* address = nullptr;
};

Buffer Tensor(const void* tensor) { return {BufferForm::kTensor, tensor}; }
Buffer List(const void* list) { return {BufferForm::kList, list}; }
Buffer Lists(const void* lists) { return {BufferForm::kListOfLists, lists}; }

// What a shim knows of its call before anything is looked up. Two whole words, so that the compiler
// hands it on in two registers: fields of their own it would hand on one by one, through the stack.
class Site {
 public:
  Site(Kind kind, Buffer buffer, std::uint32_t peer)
      : address_(buffer.address),
        rest_(std::uint64_t{peer} << 32 | std::uint64_t{static_cast<std::uint8_t>(kind)} << 8 |
              static_cast<std::uint8_t>(buffer.form)) {}

  const void* address() const { return address_; }
  BufferForm form() const { return static_cast<BufferForm>(rest_ & 0xff); }
  Kind kind() const { return static_cast<Kind>(rest_ >> 8 & 0xff); }
  std::uint32_t peer() const { return static_cast<std::uint32_t>(rest_ >> 32); }

 private:
  const void* address_;
  std::uint64_t rest_;
};

// BroadcastOptions, GatherOptions and ScatterOptions begin with `int64_t rootRank` (public header
// Types.hpp). A value that is no rank means that this has changed: then the root is not known.
std::uint32_t Root(const void* options) {
  const std::int64_t rank = *static_cast<const std::int64_t*>(options);
  return rank >= 0 && rank < 10'000'000 ? static_cast<std::uint32_t>(rank) : abi::kNoPeer;
}

std::uint32_t Peer(int rank) { return rank < 0 ? abi::kNoPeer : static_cast<std::uint32_t>(rank); }

[[gnu::always_inline]] inline OpCall Describe(Site site, const void* group) {
  const BufferSize size = MeasureBuffer(site.form(), site.address());
  OpCall call;
  call.kind = site.kind();
  call.data_type = size.data_type();
  call.bytes_known = size.known();
  call.peer = site.peer();
  call.group = reinterpret_cast<std::uint64_t>(group);
  call.bytes = size.bytes;
  return call;
}

template <typename... Args>
using WorkFunction = WorkPtr (*)(void*, Args...);

template <typename... Args>
[[gnu::noinline]] WorkPtr Traced(TracerState& state, Site site, void* real, void* self,
                                 Args... args) {
  FATHOM_ENDS_FRAME_ON_UNWIND();
  Frame frame;
  BeginOp(state, Describe(site, self), &frame);
  WorkPtr work = reinterpret_cast<WorkFunction<Args...>>(real)(self, args...);
  EndOp(state, &frame, work.address());
  return work;
}

// A call that is not to be traced, or before which something is to be done.
template <typename... Args>
[[gnu::cold, gnu::noinline]] WorkPtr Other(RealSymbol* symbol, void* caller, Site site, void* self,
                                           Args... args) {
  void* real = Real(symbol, caller);
  if (real == nullptr) return WorkPtr();
  TracerState* state = ActiveState(abi::kSourceGloo);
  if (state == nullptr || InsideStandingOp()) {
    return reinterpret_cast<WorkFunction<Args...>>(real)(self, args...);
  }
  return Traced<Args...>(*state, site, real, self, args...);
}

template <typename... Args>
[[gnu::always_inline]] inline WorkPtr Call(RealSymbol* symbol, void* caller, Site site, void* self,
                                           Args... args) {
  void* real = symbol->found.load(std::memory_order_acquire);
  TracerState* state = ReadyState(abi::kSourceGloo);
  if (real == nullptr || state == nullptr || InsideOp()) [[unlikely]] {
    return Other<Args...>(symbol, caller, site, self, args...);
  }
  return Traced<Args...>(*state, site, real, self, args...);
}

[[gnu::noinline]] void TracedVoid(TracerState& state, void* real, void* self, const void* options,
                                  bool all) {
  FATHOM_ENDS_FRAME_ON_UNWIND();
  Frame frame;
  BeginOp(state, Describe({Kind::kBarrier, {}, abi::kNoPeer}, self), &frame);
  reinterpret_cast<void (*)(void*, const void*, bool)>(real)(self, options, all);
  EndOp(state, &frame, 0);
}

}  // namespace

// Declares and defines the shim of `symbol`: its parameters after `this`, what it is, and the
// arguments to hand on.
#define FATHOM_OP(name, symbol, parameters, site, ...)                             \
  __attribute__((visibility("default"))) WorkPtr name parameters __asm__(symbol);  \
  WorkPtr name parameters {                                                        \
    static constinit RealSymbol real{symbol, nullptr};                             \
    return Call(&real, __builtin_return_address(0), Site site, self, __VA_ARGS__); \
  }

// For a collective the bytes are those of the buffer the caller gives; for scatter and recv, of the
// one it gets.
FATHOM_OP(Broadcast, FATHOM_GLOO_BROADCAST, (void* self, void* tensors, const void* options),
          ({Kind::kBroadcast, List(tensors), Root(options)}), tensors, options)
FATHOM_OP(Allreduce, FATHOM_GLOO_ALLREDUCE, (void* self, void* tensors, const void* options),
          ({Kind::kAllReduce, List(tensors), abi::kNoPeer}), tensors, options)
// What a sparse tensor sends depends on its values.
FATHOM_OP(AllreduceSparse, FATHOM_GLOO_ALLREDUCE_SPARSE,
          (void* self, void* tensors, const void* options),
          ({Kind::kAllReduce, {BufferForm::kUnknown, tensors}, abi::kNoPeer}), tensors, options)
FATHOM_OP(AllreduceCoalesced, FATHOM_GLOO_ALLREDUCE_COALESCED,
          (void* self, void* tensors, const void* options),
          ({Kind::kAllReduce, List(tensors), abi::kNoPeer}), tensors, options)
// The root of a reduce lies behind a ReduceOp, whose size is PyTorch's own affair: not read.
FATHOM_OP(Reduce, FATHOM_GLOO_REDUCE, (void* self, void* tensors, const void* options),
          ({Kind::kReduce, List(tensors), abi::kNoPeer}), tensors, options)
FATHOM_OP(Allgather, FATHOM_GLOO_ALLGATHER,
          (void* self, void* outputs, void* inputs, const void* options),
          ({Kind::kAllGather, List(inputs), abi::kNoPeer}), outputs, inputs, options)
FATHOM_OP(AllgatherBase, FATHOM_GLOO_ALLGATHER_BASE,
          (void* self, void* output, void* input, const void* options),
          ({Kind::kAllGather, Tensor(input), abi::kNoPeer}), output, input, options)
FATHOM_OP(AllgatherCoalesced, FATHOM_GLOO_ALLGATHER_COALESCED,
          (void* self, void* outputs, void* inputs, const void* options),
          ({Kind::kAllGather, List(inputs), abi::kNoPeer}), outputs, inputs, options)
FATHOM_OP(AllgatherInto, FATHOM_GLOO_ALLGATHER_INTO,
          (void* self, void* outputs, void* inputs, const void* options),
          ({Kind::kAllGather, List(inputs), abi::kNoPeer}), outputs, inputs, options)
FATHOM_OP(Gather, FATHOM_GLOO_GATHER,
          (void* self, void* outputs, void* inputs, const void* options),
          ({Kind::kGather, List(inputs), Root(options)}), outputs, inputs, options)
FATHOM_OP(Scatter, FATHOM_GLOO_SCATTER,
          (void* self, void* outputs, void* inputs, const void* options),
          ({Kind::kScatter, List(outputs), Root(options)}), outputs, inputs, options)
FATHOM_OP(ReduceScatter, FATHOM_GLOO_REDUCE_SCATTER,
          (void* self, void* outputs, void* inputs, const void* options),
          ({Kind::kReduceScatter, Lists(inputs), abi::kNoPeer}), outputs, inputs, options)
FATHOM_OP(ReduceScatterBase, FATHOM_GLOO_REDUCE_SCATTER_BASE,
          (void* self, void* output, void* input, const void* options),
          ({Kind::kReduceScatter, Tensor(input), abi::kNoPeer}), output, input, options)
FATHOM_OP(ReduceScatterInto, FATHOM_GLOO_REDUCE_SCATTER_INTO,
          (void* self, void* outputs, void* inputs, const void* options),
          ({Kind::kReduceScatter, List(inputs), abi::kNoPeer}), outputs, inputs, options)
FATHOM_OP(AlltoallBase, FATHOM_GLOO_ALLTOALL_BASE,
          (void* self, void* output, void* input, void* output_split, void* input_split,
           const void* options),
          ({Kind::kAllToAll, Tensor(input), abi::kNoPeer}), output, input, output_split,
          input_split, options)
FATHOM_OP(Alltoall, FATHOM_GLOO_ALLTOALL,
          (void* self, void* outputs, void* inputs, const void* options),
          ({Kind::kAllToAll, List(inputs), abi::kNoPeer}), outputs, inputs, options)
FATHOM_OP(Barrier, FATHOM_GLOO_BARRIER, (void* self, const void* options),
          ({Kind::kBarrier, {}, abi::kNoPeer}), options)
FATHOM_OP(Send, FATHOM_GLOO_SEND, (void* self, void* tensors, int to, int tag),
          ({Kind::kSend, List(tensors), Peer(to)}), tensors, to, tag)
FATHOM_OP(Recv, FATHOM_GLOO_RECV, (void* self, void* tensors, int from, int tag),
          ({Kind::kRecv, List(tensors), Peer(from)}), tensors, from, tag)
FATHOM_OP(RecvAny, FATHOM_GLOO_RECV_ANY, (void* self, void* tensors, int tag),
          ({Kind::kRecv, List(tensors), abi::kNoPeer}), tensors, tag)

// Returns nothing: it is done when it returns.
__attribute__((visibility("default"))) void MonitoredBarrier(
    void* self, const void* options, bool all) __asm__(FATHOM_GLOO_MONITORED_BARRIER);
void MonitoredBarrier(void* self, const void* options, bool all) {
  static constinit RealSymbol symbol{FATHOM_GLOO_MONITORED_BARRIER, nullptr};
  void* real = Real(&symbol, __builtin_return_address(0));
  if (real == nullptr) return;
  TracerState* state = ActiveState(abi::kSourceGloo);
  if (state == nullptr || InsideStandingOp()) {
    return reinterpret_cast<void (*)(void*, const void*, bool)>(real)(self, options, all);
  }
  TracedVoid(*state, real, self, options, all);
}

}  // namespace fathom::tracer
