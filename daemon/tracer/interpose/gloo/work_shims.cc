// What happens to an op after, and beneath, the call that made it: its sequence, its works and
// buffers, the worker that runs it, and whoever waits for it.
#include "daemon/tracer/core/op_recorder.h"
#include "daemon/tracer/interpose/gloo/symbols.h"
#include "daemon/tracer/interpose/real_symbol.h"
#include "daemon/tracer/interpose/unwind.h"

#define FATHOM_SHIM(result, name, symbol, ...)                                     \
  __attribute__((visibility("default"))) result name(__VA_ARGS__) __asm__(symbol); \
  namespace {                                                                      \
  constinit RealSymbol name##_real{symbol, nullptr};                               \
  }                                                                                \
  result name(__VA_ARGS__)

#define FATHOM_REAL(name) Real(&name##_real, __builtin_return_address(0))

namespace fathom::tracer {
namespace {

std::uint64_t Address(const void* object) { return reinterpret_cast<std::uint64_t>(object); }

// What a smart pointer of one word holds.
std::uint64_t Pointee(const void* pointer) { return Address(*static_cast<void* const*>(pointer)); }

using WaitFunction = bool (*)(void*, long);
using SelfFunction = void (*)(void*);

[[gnu::noinline]] bool TracedWait(TracerState& state, Frame* frame, void* real, void* work,
                                  long timeout_ms) {
  FATHOM_ENDS_FRAME_ON_UNWIND();
  const bool done = reinterpret_cast<WaitFunction>(real)(work, timeout_ms);
  EndWait(state, frame);
  return done;
}

bool Wait(void* real, void* work, long timeout_ms) {
  if (real == nullptr) return false;
  TracerState* state = ActiveState(abi::kSourceGloo);
  Frame frame;
  if (state == nullptr || InsideOpOrWait() || !BeginWait(*state, Address(work), &frame)) {
    return reinterpret_cast<WaitFunction>(real)(work, timeout_ms);
  }
  return TracedWait(*state, &frame, real, work, timeout_ms);
}

[[gnu::noinline]] void TracedExecute(TracerState& state, void* real, const void* work) {
  FATHOM_ENDS_FRAME_ON_UNWIND();
  Frame frame;
  BeginExec(state, Pointee(work), &frame);
  reinterpret_cast<void (*)(const void*)>(real)(work);
  EndExec(state, &frame);
}

[[gnu::noinline]] void TracedWaitAll(TracerState& state, void* real, void* reducer) {
  FATHOM_ENDS_FRAME_ON_UNWIND();
  Frame frame;
  BeginWaitAll(state, &frame);
  reinterpret_cast<SelfFunction>(real)(reducer);
  EndWait(state, &frame);
}

}  // namespace

FATHOM_SHIM(std::uint32_t, NextTag, FATHOM_GLOO_NEXT_TAG, void* self) {
  void* real = FATHOM_REAL(NextTag);
  if (real == nullptr) return 0;
  const auto tag = reinterpret_cast<std::uint32_t (*)(void*)>(real)(self);
  TracerState* state = OnState();
  if (state != nullptr) NoteSequence(*state, Address(self), tag);
  return tag;
}

// Defined below: kept out of the shim's way, which would have to hold all arguments for the
// look-up.
static void FirstAsyncWork(void* self, void* context, void* outputs, std::uint8_t op_type,
                           std::uint64_t sequence, long timeout_ms, const char* title,
                           const void* inputs);

FATHOM_SHIM(void, AsyncWork, FATHOM_GLOO_ASYNC_WORK, void* self, void* context, void* outputs,
            std::uint8_t op_type, std::uint64_t sequence, long timeout_ms, const char* title,
            const void* inputs) {
  void* real = AsyncWork_real.found.load(std::memory_order_acquire);
  if (real == nullptr) {
    return FirstAsyncWork(self, context, outputs, op_type, sequence, timeout_ms, title, inputs);
  }
  reinterpret_cast<void (*)(void*, void*, void*, std::uint8_t, std::uint64_t, long, const char*,
                            const void*)>(real)(self, context, outputs, op_type, sequence,
                                                timeout_ms, title, inputs);
  TracerState* state = InsideOp() ? OnState() : nullptr;
  if (state != nullptr) NoteWork(*state, Address(self));
}

[[gnu::cold, gnu::noinline]] static void FirstAsyncWork(void* self, void* context, void* outputs,
                                                        std::uint8_t op_type,
                                                        std::uint64_t sequence, long timeout_ms,
                                                        const char* title, const void* inputs) {
  if (FATHOM_REAL(AsyncWork) == nullptr) return;
  AsyncWork(self, context, outputs, op_type, sequence, timeout_ms, title, inputs);
}

FATHOM_SHIM(void, SendWork, FATHOM_GLOO_SEND_WORK, void* self, void* tensor, void* buffer,
            std::uint64_t sequence) {
  void* real = FATHOM_REAL(SendWork);
  if (real == nullptr) return;
  reinterpret_cast<void (*)(void*, void*, void*, std::uint64_t)>(real)(self, tensor, buffer,
                                                                       sequence);
  TracerState* state = ActiveState(abi::kSourceGloo);
  if (state != nullptr) NoteBufferWork(*state, Address(self));
}

FATHOM_SHIM(void, RecvWork, FATHOM_GLOO_RECV_WORK, void* self, void* tensor, void* buffer,
            std::uint8_t op_type, std::uint64_t sequence, const char* title) {
  void* real = FATHOM_REAL(RecvWork);
  if (real == nullptr) return;
  reinterpret_cast<void (*)(void*, void*, void*, std::uint8_t, std::uint64_t, const char*)>(real)(
      self, tensor, buffer, op_type, sequence, title);
  TracerState* state = ActiveState(abi::kSourceGloo);
  if (state != nullptr) NoteBufferWork(*state, Address(self));
}

FATHOM_SHIM(void, WorkGone, FATHOM_C10D_WORK_D2, void* self) {
  void* real = FATHOM_REAL(WorkGone);
  TracerState* state = OnState();
  if (state != nullptr) NoteWorkGone(*state, Address(self));
  if (real != nullptr) reinterpret_cast<SelfFunction>(real)(self);
}

FATHOM_SHIM(void, Execute, FATHOM_GLOO_EXECUTE, const void* work) {
  void* real = FATHOM_REAL(Execute);
  if (real == nullptr) return;
  TracerState* state = ActiveState(abi::kSourceGloo);
  if (state == nullptr) return reinterpret_cast<void (*)(const void*)>(real)(work);
  TracedExecute(*state, real, work);
}

// The op is over; the real function wakes whoever waits.
FATHOM_SHIM(void, WorkDone, FATHOM_GLOO_WORK_DONE, void* self) {
  void* real = FATHOM_REAL(WorkDone);
  if (real == nullptr) return;
  TracerState* state = ActiveState(abi::kSourceGloo);
  if (state != nullptr) NoteExecDone(*state, false);
  reinterpret_cast<SelfFunction>(real)(self);
}

// The same, with what the op threw.
FATHOM_SHIM(void, WorkError, FATHOM_GLOO_WORK_ERROR, void* self, const void* error) {
  void* real = FATHOM_REAL(WorkError);
  if (real == nullptr) return;
  TracerState* state = ActiveState(abi::kSourceGloo);
  if (state != nullptr) NoteExecDone(*state, true);
  reinterpret_cast<void (*)(void*, const void*)>(real)(self, error);
}

FATHOM_SHIM(void, BufferMade, FATHOM_GLOO_BUFFER, void* self, const void* context, void* data,
            std::size_t bytes) {
  void* real = FATHOM_REAL(BufferMade);
  if (real == nullptr) return;
  TracerState* state = ActiveState(abi::kSourceGloo);
  if (state != nullptr) NoteBuffer(*state, Address(self));
  reinterpret_cast<void (*)(void*, const void*, void*, std::size_t)>(real)(self, context, data,
                                                                           bytes);
}

// After these the owner may wake and destroy the buffer, so the record comes first.
FATHOM_SHIM(void, BufferSent, FATHOM_GLOO_BUFFER_SENT, void* self, int rank) {
  void* real = FATHOM_REAL(BufferSent);
  if (real == nullptr) return;
  TracerState* state = ActiveState(abi::kSourceGloo);
  if (state != nullptr) NoteBufferDone(*state, Address(self));
  reinterpret_cast<void (*)(void*, int)>(real)(self, rank);
}

FATHOM_SHIM(void, BufferReceived, FATHOM_GLOO_BUFFER_RECEIVED, void* self, int rank) {
  void* real = FATHOM_REAL(BufferReceived);
  if (real == nullptr) return;
  TracerState* state = ActiveState(abi::kSourceGloo);
  if (state != nullptr) NoteBufferDone(*state, Address(self));
  reinterpret_cast<void (*)(void*, int)>(real)(self, rank);
}

FATHOM_SHIM(bool, WorkWait, FATHOM_C10D_WORK_WAIT, void* self, long timeout_ms) {
  return Wait(FATHOM_REAL(WorkWait), self, timeout_ms);
}

FATHOM_SHIM(bool, SendWait, FATHOM_GLOO_SEND_WAIT, void* self, long timeout_ms) {
  return Wait(FATHOM_REAL(SendWait), self, timeout_ms);
}

FATHOM_SHIM(bool, RecvWait, FATHOM_GLOO_RECV_WAIT, void* self, long timeout_ms) {
  return Wait(FATHOM_REAL(RecvWait), self, timeout_ms);
}

// DDP blocks here, at the end of backward, until all its buckets are reduced.
FATHOM_SHIM(void, FinalizeBackward, FATHOM_C10D_FINALIZE_BACKWARD, void* self) {
  void* real = FATHOM_REAL(FinalizeBackward);
  if (real == nullptr) return;
  TracerState* state = ActiveState(abi::kSourceGloo);
  if (state == nullptr || InsideOpOrWait()) return reinterpret_cast<SelfFunction>(real)(self);
  TracedWaitAll(*state, real, self);
}

}  // namespace fathom::tracer
