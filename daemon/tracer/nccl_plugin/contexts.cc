#include "daemon/tracer/nccl_plugin/contexts.h"

#include "daemon/tracer/core/op_recorder.h"

namespace fathom::tracer::nccl_plugin {
namespace {

constinit Context contexts[kMaxContexts];
constinit thread_local Context* newest = nullptr;

// Contexts of a forked child's parent are not its own.
bool Claim(Context& context, std::uint32_t epoch) {
  std::uint32_t seen = context.epoch.load(std::memory_order_relaxed);
  if (seen == epoch) return false;
  return context.epoch.compare_exchange_strong(seen, epoch, std::memory_order_acq_rel);
}

}  // namespace

constinit Bindings bindings;

void BeginMaking() {
  bindings.api_hooked.store(1, std::memory_order_relaxed);
  newest = nullptr;
}

void BindNewest(const TracerState& state, std::uint16_t slot) {
  Context* context = newest;
  newest = nullptr;
  if (context == nullptr) return;
  const abi::GroupSlot& group = state.region.groups[slot];
  const bool told = context->size != 0;
  if (told && (context->size != group.size || context->rank != group.my_rank)) return;
  Bind(context, slot);
}

void ApplyMask(std::uint32_t asked) {
  const bool set = (asked & abi::kPluginMaskSet) != 0;
  std::uint32_t events = set ? asked & bindings.events_at_most.load(std::memory_order_relaxed)
                             : bindings.usual_events.load(std::memory_order_relaxed);
  if ((asked & kWithoutTransfers) != 0) events &= ~(kProxyOp | kProxyStep);
  int* mask = bindings.mask.load(std::memory_order_acquire);
  if (mask != nullptr) __atomic_store_n(mask, static_cast<int>(events), __ATOMIC_RELAXED);
  bindings.events.store(mask == nullptr ? 0 : events, std::memory_order_relaxed);
  bindings.asked.store(asked, std::memory_order_relaxed);
}

void QueueCall(Context* context, const PackedRecord& entry, std::uint64_t bytes,
               std::uint32_t calls_in) {
  // Not exact beside the events that set it to 0: it only has to grow while none come.
  if (calls_in == 0 || calls_in != context->calls_in) {
    context->silent_calls.store(context->silent_calls.load(std::memory_order_relaxed) + 1,
                                std::memory_order_relaxed);
  }
  context->calls_in = calls_in;
  if (context->version >= 5) return;
  Context::Call& call =
      context->calls[context->queued.fetch_add(1, std::memory_order_relaxed) % kQueued];
  call.bytes.store(bytes, std::memory_order_relaxed);
  call.kind.store(entry.collective_kind(), std::memory_order_relaxed);
  call.op_id.store(entry.op_id, std::memory_order_release);
}

void ForgetCall(Context* context, std::uint64_t op_id) {
  const std::uint32_t newest_call = context->queued.load(std::memory_order_relaxed) - 1;
  context->calls[newest_call % kQueued].op_id.compare_exchange_strong(op_id, 0);
}

Context* MakeContext(const TracerState& state, std::uint8_t version, std::uint32_t rank,
                     std::uint32_t size) {
  for (Context& context : contexts) {
    if (!Claim(context, state.epoch)) continue;
    context.slot.store(abi::kNoGroupSlot, std::memory_order_relaxed);
    context.version = version;
    context.own_slot = false;
    context.has_graphs.store(false, std::memory_order_relaxed);
    context.rank = rank;
    context.size = size;
    context.silent_calls.store(0, std::memory_order_relaxed);
    context.calls_in = 0;
    for (Context::Call& call : context.calls) call.op_id.store(0, std::memory_order_relaxed);
    newest = &context;
    return &context;
  }
  return nullptr;
}

void DropContext(Context* context) {
  const std::uint16_t slot = context->slot.exchange(abi::kNoGroupSlot);
  if (slot < abi::kGroupSlots) {
    Context* expected = context;
    bindings.of_slot[slot].compare_exchange_strong(expected, nullptr);
  }
  if (newest == context) newest = nullptr;
  context->epoch.store(0, std::memory_order_release);
}

void Bind(Context* context, std::uint16_t slot) {
  if (slot >= abi::kGroupSlots) return;
  context->slot.store(slot, std::memory_order_relaxed);
  bindings.of_slot[slot].store(context, std::memory_order_release);
}

OpRef TakeCall(Context* context, CollectiveKind kind, std::uint64_t bytes) {
  const std::uint32_t newest_call = context->queued.load(std::memory_order_acquire);
  const std::uint32_t oldest = newest_call > kQueued ? newest_call - kQueued : 0;
  for (std::uint32_t i = oldest; i < newest_call; ++i) {
    Context::Call& call = context->calls[i % kQueued];
    std::uint64_t op_id = call.op_id.load(std::memory_order_acquire);
    if (op_id == 0 ||
        call.kind.load(std::memory_order_relaxed) != static_cast<std::uint8_t>(kind) ||
        call.bytes.load(std::memory_order_relaxed) != bytes) {
      continue;
    }
    if (!call.op_id.compare_exchange_strong(op_id, 0, std::memory_order_acq_rel)) continue;
    return {op_id, context->slot.load(std::memory_order_relaxed), static_cast<std::uint8_t>(kind)};
  }
  return {};
}

}  // namespace fathom::tracer::nccl_plugin
