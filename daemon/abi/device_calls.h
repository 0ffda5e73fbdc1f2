// What a kDeviceCalls record holds: the CUDA calls one thread made since its last such record.
//
// Packed by daemon/tracer/core/device_calls.cc, unpacked by
// daemon/agent/pipeline/iteration/device_calls.cc. Why a sum and not a record a launch:
// docs/design/0007-device-calls.md.
//
//   field      63      48 47      32 31      16 15       0
//   peer                            | kernel launches      |
//   sequence  | copies   | memsets  | graphs   | captured  |
//   bytes     | events   | waits    | created  | sampled   |
//   extra     | longest sampled ns  | sum of sampled ns    |
//
// `captured` calls went into a graph that is being built and launched nothing; they are in no other
// count. `sampled` calls of all but the created ones were timed: about one in 16, drawn at random.
// Counts are cut at 65535 and times at 4.29 s; the tracer writes a record before a count gets
// there. Thread-safety: values.
#ifndef FATHOM_DAEMON_ABI_DEVICE_CALLS_H_
#define FATHOM_DAEMON_ABI_DEVICE_CALLS_H_

#include <cstdint>

#include "daemon/abi/event_record.h"

namespace fathom::abi {

// A timed call that took so long blocked: the tracer tells it by itself, as a wait.
inline constexpr std::int64_t kStallNs = 1'000'000;

struct DeviceCalls {
  std::uint32_t launches = 0;
  std::uint16_t copies = 0;
  std::uint16_t memsets = 0;
  std::uint16_t graphs = 0;    // launches of whole graphs
  std::uint16_t captured = 0;  // calls recorded into a graph
  std::uint16_t events = 0;    // event records
  std::uint16_t waits = 0;     // streams made to wait for an event
  std::uint16_t created = 0;   // streams, events, contexts made; graphs instantiated
  std::uint16_t sampled = 0;
  std::uint32_t sampled_ns = 0;
  std::uint32_t longest_ns = 0;

  friend bool operator==(const DeviceCalls&, const DeviceCalls&) = default;
};

// Fills in the fields of `record` that hold counts.
constexpr void PackDeviceCalls(const DeviceCalls& calls, EventRecord& record) {
  record.peer = calls.launches;
  record.sequence = std::uint64_t{calls.copies} << 48 | std::uint64_t{calls.memsets} << 32 |
                    std::uint64_t{calls.graphs} << 16 | calls.captured;
  record.bytes = std::uint64_t{calls.events} << 48 | std::uint64_t{calls.waits} << 32 |
                 std::uint64_t{calls.created} << 16 | calls.sampled;
  record.extra = std::uint64_t{calls.longest_ns} << 32 | calls.sampled_ns;
}

constexpr DeviceCalls UnpackDeviceCalls(const EventRecord& record) {
  const auto part = [](std::uint64_t word, int shift) {
    return static_cast<std::uint16_t>(word >> shift);
  };
  DeviceCalls calls;
  calls.launches = record.peer;
  calls.copies = part(record.sequence, 48);
  calls.memsets = part(record.sequence, 32);
  calls.graphs = part(record.sequence, 16);
  calls.captured = part(record.sequence, 0);
  calls.events = part(record.bytes, 48);
  calls.waits = part(record.bytes, 32);
  calls.created = part(record.bytes, 16);
  calls.sampled = part(record.bytes, 0);
  calls.sampled_ns = static_cast<std::uint32_t>(record.extra);
  calls.longest_ns = static_cast<std::uint32_t>(record.extra >> 32);
  return calls;
}

}  // namespace fathom::abi

#endif  // FATHOM_DAEMON_ABI_DEVICE_CALLS_H_
