// One event of a Chrome trace as PyTorch's profiler (Kineto) writes them, and what stands around
// the events.
//
// Filled by TraceReader, read by RankTraceBuilder. The views point into the reader's buffer and are
// valid until the sink returns; strings are as in the file, escapes not resolved.
//
// Units: begin and duration in ns since the base of the trace (TraceHeader::base_ns), exact: the
// decimal µs of the file are never carried through a double.
// Thread-safety: plain values.
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_TRACE_EVENT_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_TRACE_EVENT_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::collector::kineto {

inline constexpr std::int64_t kAbsent = -1;

struct TraceEvent {
  char phase = 0;
  std::string_view category;
  std::string_view name;
  std::int64_t begin = 0;
  std::int64_t duration = 0;
  std::int64_t thread = kAbsent;   // kAbsent also where the file has a word instead of a number
  std::int64_t process = kAbsent;  // likewise; of work on a device: the device
  bool timed = false;              // it had a readable ts

  std::int64_t end() const { return begin + duration; }
};

// Of `args`, what the importer uses. Absent: empty or kAbsent.
struct EventArgs {
  static constexpr std::size_t kConcrete = 6;

  std::string_view collective;
  std::string_view data_type;
  std::string_view group_name;
  std::string_view group_description;
  std::string_view group_ranks;
  std::string_view input_type;  // of the first input
  std::int64_t in_elements = kAbsent;
  std::int64_t out_elements = kAbsent;
  std::int64_t group_size = kAbsent;
  std::int64_t sequence = kAbsent;
  std::int64_t source_rank = kAbsent;  // these two in the numbers of the job
  std::int64_t target_rank = kAbsent;
  std::int64_t group_rank = kAbsent;  // of a message: the other end, in the numbers of the group
  std::int64_t stream = kAbsent;
  std::int64_t device = kAbsent;
  std::int64_t correlation = kAbsent;
  std::int64_t external_id = kAbsent;
  std::int64_t bytes = kAbsent;                       // of a copy
  std::int64_t blocks = kAbsent;                      // of a kernel: product of its grid
  std::int64_t input_elements = kAbsent;              // product of the first Input Dims
  std::array<std::int64_t, kConcrete> concrete = {};  // numbers among Concrete Inputs
  std::uint8_t concrete_known = 0;                    // bit i: concrete[i] was a number
  std::int8_t last_truth = -1;                        // of the Concrete Inputs: asyncOp of c10d ops

  // What a launch and the work it launched have in common: `correlation`, or where a profiler
  // writes none (ROCm's) `External id`.
  std::int64_t LaunchId() const { return correlation != kAbsent ? correlation : external_id; }
  // What an op and its work have in common. Some versions of Kineto write the correlation id there
  // as well: that says nothing of ops, which count by themselves.
  std::int64_t OpId() const { return external_id == correlation ? kAbsent : external_id; }
};

struct TraceGroup {
  std::string name;
  std::string description;
  std::vector<std::uint32_t> ranks;
  std::uint32_t size = 0;
};

// What stands beside `traceEvents`.
struct TraceHeader {
  std::int64_t base_ns = 0;  // 0: timestamps count from the Unix epoch
  std::int64_t rank = kAbsent;
  std::int64_t world_size = kAbsent;
  std::string backend;
  std::string host;
  std::vector<TraceGroup> groups;
};

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_TRACE_EVENT_H_
