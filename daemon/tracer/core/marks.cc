#include "daemon/tracer/core/marks.h"

#include "daemon/tracer/core/tracer_state.h"

namespace fathom::tracer {
namespace {

void Write(const TracerState& state, abi::MarkKind kind, std::int64_t time_ns, std::uint64_t value,
           std::uint64_t pair) {
  abi::EventRecord record = {};
  record.time_ns = time_ns;
  record.thread_id = thread_state.thread_id;
  record.record_kind = static_cast<std::uint8_t>(abi::RecordKind::kMark);
  record.group_slot = abi::kNoGroupSlot;
  record.peer = abi::kNoPeer;
  record.op_id = pair;
  record.sequence = abi::kNoSequence64;
  record.bytes = value;
  record.extra = static_cast<std::uint64_t>(kind);
  AppendRecord(state.region, record);
}

std::uint64_t NextPair(const TracerState& state) {
  return state.region.control->next_op_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

std::uint64_t BeginMark(abi::SourceBit source, abi::MarkKind kind, std::uint64_t value) {
  TracerState* state = ActiveState(source, AfterFork::kIgnore);
  if (state == nullptr) return 0;
  const std::uint64_t pair = NextPair(*state);
  Write(*state, kind, NowNs(), value, pair);
  return pair;
}

void EndMark(abi::SourceBit source, abi::MarkKind kind, std::uint64_t value, std::uint64_t pair) {
  TracerState* state = pair == 0 ? nullptr : AllowedState(source, AfterFork::kIgnore);
  if (state != nullptr) Write(*state, kind, NowNs(), value, pair);
}

void SpanMark(abi::SourceBit source, abi::MarkKind begin, std::int64_t begin_ns,
              std::uint64_t begin_value, abi::MarkKind end, std::uint64_t end_value) {
  TracerState* state = ActiveState(source, AfterFork::kIgnore);
  if (state == nullptr) return;
  const std::uint64_t pair = NextPair(*state);
  Write(*state, begin, begin_ns, begin_value, pair);
  Write(*state, end, NowNs(), end_value, pair);
}

}  // namespace fathom::tracer
