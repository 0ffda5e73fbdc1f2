#include "daemon/tracer/core/steps.h"

#include <stdlib.h>

#include "daemon/tracer/core/activation.h"
#include "daemon/tracer/core/group_table.h"
#include "daemon/tracer/core/host/identity.h"
#include "daemon/tracer/core/op_recorder.h"

namespace fathom::tracer {
namespace {

constexpr std::uint32_t kReady = 2;  // from here on a slot holds its size

// Its address stands for the group that no framework has made.
constinit std::atomic<bool> making{false};

std::uint64_t Address() { return reinterpret_cast<std::uint64_t>(&making); }

bool HasOtherRanks(const TracerState& state) {
  if (state.region.header->world_size > 1) return true;
  std::uint32_t used = state.region.control->group_count.load(std::memory_order_acquire);
  if (used > abi::kGroupSlots) used = abi::kGroupSlots;
  for (std::uint32_t i = 0; i < used; ++i) {
    const abi::GroupSlot& slot = state.region.groups[i];
    if (slot.state.load(std::memory_order_acquire) >= kReady && slot.size > 1) return true;
  }
  return false;
}

std::uint16_t MakeSlot(TracerState& state) {
  constexpr std::uint32_t kMe = 0;
  PendingGroup pending;
  pending.name = kStepGroup;
  pending.description = "steps of the optimizer";
  pending.members = &kMe;
  pending.member_count = 1;
  return AddGroup(state, abi::kSourcePython, Address(), 0, 1, pending);
}

const char* Environment(const char* name) { return getenv(name); }

}  // namespace

TracerState* StateOfSteps() {
  TracerState* state = OnState(AfterFork::kIgnore);
  if (state == nullptr && ReadIdentity(Environment).world_size <= 1) (void)Activate();
  return ActiveState(abi::kSourcePython, AfterFork::kIgnore);
}

std::uint16_t StepSlot(TracerState& state, bool* made) {
  *made = false;
  if (HasOtherRanks(state)) return abi::kNoGroupSlot;
  const std::uint16_t slot = FindGroup(state, Address(), thread_state.group_hint);
  if (slot != abi::kNoGroupSlot) return slot;
  // Of two threads that step for the first time together, one makes it.
  if (making.exchange(true, std::memory_order_acquire)) return abi::kNoGroupSlot;
  const std::uint16_t fresh = FindGroup(state, Address(), abi::kNoGroupSlot);
  *made = fresh == abi::kNoGroupSlot;
  const std::uint16_t found = *made ? MakeSlot(state) : fresh;
  making.store(false, std::memory_order_release);
  return found;
}

void NoteStep(TracerState& state, std::uint64_t bytes) {
  OpCall call;
  call.kind = CollectiveKind::kStep;
  call.bytes_known = true;
  call.group = Address();
  call.bytes = bytes;
  Frame frame;
  BeginOp(state, call, &frame);
  EndOp(state, &frame, 0);
}

}  // namespace fathom::tracer
