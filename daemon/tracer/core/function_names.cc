#include "daemon/tracer/core/function_names.h"

#include <string.h>

#include "daemon/tracer/core/host/text.h"
#include "daemon/tracer/core/tracer_state.h"

namespace fathom::tracer {
namespace {

char names[abi::kFunctionNames][abi::kFunctionNameBytes];
std::atomic<std::uint32_t> taken{0};  // slots handed out
std::atomic<bool> written[abi::kFunctionNames];

void Publish(abi::ControlBlock& control, std::uint32_t slot) {
  memcpy(control.function_names[slot], names[slot], abi::kFunctionNameBytes);
  std::uint32_t count = control.function_count.load(std::memory_order_relaxed);
  while (count < slot + 1 &&
         !control.function_count.compare_exchange_weak(count, slot + 1, std::memory_order_release,
                                                       std::memory_order_relaxed)) {
  }
}

}  // namespace

std::uint32_t RegisterFunction(const char* name) {
  char wanted[abi::kFunctionNameBytes];
  CopyText(wanted, sizeof(wanted), name);
  const std::uint32_t known = taken.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < known && i < abi::kFunctionNames; ++i) {
    if (written[i].load(std::memory_order_acquire) && strcmp(names[i], wanted) == 0) return i;
  }
  if (known >= abi::kFunctionNames) return kNoFunction;
  const std::uint32_t slot = taken.fetch_add(1, std::memory_order_acq_rel);
  if (slot >= abi::kFunctionNames) return kNoFunction;
  memcpy(names[slot], wanted, sizeof(wanted));
  written[slot].store(true, std::memory_order_release);
  TracerState* state = OnState(AfterFork::kIgnore);
  if (state != nullptr) Publish(*state->region.control, slot);
  return slot;
}

void PublishFunctions(abi::ControlBlock& control) {
  for (std::uint32_t i = 0; i < abi::kFunctionNames; ++i) {
    if (written[i].load(std::memory_order_acquire)) Publish(control, i);
  }
}

}  // namespace fathom::tracer
