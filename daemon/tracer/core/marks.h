// Marks: what happens in a training process besides communication (kMark records).
//
// Called by entry.cc and function_timer.cc of daemon/tracer/python.
// Thread-safety: thread-safe. Units: CLOCK_MONOTONIC ns. Errors: nothing is written where the
// tracer is off. Cost: one record, two for a span.
#ifndef FATHOM_DAEMON_TRACER_CORE_MARKS_H_
#define FATHOM_DAEMON_TRACER_CORE_MARKS_H_

#include <cstdint>

#include "daemon/abi/event_record.h"
#include "daemon/abi/ring_layout.h"

namespace fathom::tracer {

// Writes a begin now and returns the id that pairs it with its end; 0 if `source` is off.
std::uint64_t BeginMark(abi::SourceBit source, abi::MarkKind kind, std::uint64_t value);

// Writes the end of `pair`. Nothing happens if pair is 0.
void EndMark(abi::SourceBit source, abi::MarkKind kind, std::uint64_t value, std::uint64_t pair);

// Writes a begin at `begin_ns` and an end now.
void SpanMark(abi::SourceBit source, abi::MarkKind begin, std::int64_t begin_ns,
              std::uint64_t begin_value, abi::MarkKind end, std::uint64_t end_value);

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_MARKS_H_
