#include "daemon/tracer/python/entry.h"

#include "daemon/tracer/core/activation.h"
#include "daemon/tracer/core/function_names.h"
#include "daemon/tracer/core/marks.h"
#include "daemon/tracer/core/steps.h"
#include "daemon/tracer/core/tracer_state.h"
#include "daemon/tracer/interpose/cuda/current_device.h"

using fathom::abi::kSourcePython;
using fathom::abi::MarkKind;
using fathom::tracer::PendingGroup;
using fathom::tracer::TracerState;

namespace {

bool IsMark(std::uint64_t kind) { return kind > 0 && kind < fathom::abi::kMarkKindCount; }

}  // namespace

FATHOM_EXPORT int fathom_python_version(void) { return 6; }

FATHOM_EXPORT void fathom_start(void) { (void)fathom::tracer::Activate(); }

FATHOM_EXPORT void fathom_step(std::uint64_t bytes) {
  TracerState* state = fathom::tracer::StateOfSteps();
  if (state == nullptr) return;
  bool made = false;
  const std::uint16_t slot = fathom::tracer::StepSlot(*state, &made);
  if (slot == fathom::abi::kNoGroupSlot) return;
  if (made) fathom::tracer::cuda::TellCurrentDevice(&state->region.groups[slot]);
  fathom::tracer::NoteStep(*state, bytes);
}

FATHOM_EXPORT void fathom_group_begin(const char* name, const char* description,
                                      const std::uint32_t* members, std::uint32_t member_count) {
  PendingGroup& pending = fathom::tracer::thread_state.pending;
  pending = PendingGroup{};
  pending.name = name;
  pending.description = description;
  pending.members = members;
  pending.member_count = members == nullptr ? 0 : member_count;
}

FATHOM_EXPORT void fathom_group_end(void) { fathom::tracer::thread_state.pending = PendingGroup{}; }

FATHOM_EXPORT std::uint64_t fathom_mark_begin(std::uint64_t kind, std::uint64_t value) {
  if (!IsMark(kind)) return 0;
  return fathom::tracer::BeginMark(kSourcePython, static_cast<MarkKind>(kind), value);
}

FATHOM_EXPORT void fathom_mark_end(std::uint64_t kind, std::uint64_t value, std::uint64_t pair) {
  if (!IsMark(kind)) return;
  fathom::tracer::EndMark(kSourcePython, static_cast<MarkKind>(kind), value, pair);
}

FATHOM_EXPORT void fathom_mark_span(std::uint64_t begin_kind, std::int64_t begin_ns,
                                    std::uint64_t begin_value, std::uint64_t end_kind,
                                    std::uint64_t end_value) {
  if (!IsMark(begin_kind) || !IsMark(end_kind)) return;
  fathom::tracer::SpanMark(kSourcePython, static_cast<MarkKind>(begin_kind), begin_ns, begin_value,
                           static_cast<MarkKind>(end_kind), end_value);
}

FATHOM_EXPORT std::uint32_t fathom_function(const char* name) {
  return name == nullptr ? fathom::tracer::kNoFunction : fathom::tracer::RegisterFunction(name);
}
