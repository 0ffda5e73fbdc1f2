// What one process wrote of its ops on one communicator, in whichever of NCCL's two formats.
//
// Filled by InspectorReader and ProfilerTraceReader, read by JobBuilder.
//
// Units: ns. call, start and end are of the process's own clock (wall for Inspector, since its
// start for the example profiler); gpu_begin and gpu_end of its device. 0: not known.
// Thread-safety: plain values.
#ifndef FATHOM_COLLECTOR_IMPORT_NCCL_OP_RECORD_H_
#define FATHOM_COLLECTOR_IMPORT_NCCL_OP_RECORD_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/types/collective_kind.h"

namespace fathom::collector::nccl {

inline constexpr std::int64_t kUnknown = -1;

struct OpRecord {
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::int64_t number = kUnknown;  // counted by NCCL for each function of a communicator
  std::uint64_t bytes = 0;
  std::int64_t peer = kUnknown;  // of a message, in the numbers of the communicator
  std::int64_t start_ns = 0;     // its kernel
  std::int64_t end_ns = 0;
  std::int64_t gpu_begin_ns = 0;
  std::int64_t gpu_end_ns = 0;
  std::int64_t kernel_ns = kUnknown;  // how long it ran, by the device's clock

  bool timed() const { return start_ns > 0 && end_ns >= start_ns; }
};

// A communicator in one file.
struct CommPart {
  std::string path;
  std::string host;  // empty: the format does not say
  std::uint64_t pid = 0;
  std::string comm;  // its hash, as text
  std::string name;  // what the program called it; empty: nothing
  std::uint32_t rank = 0;
  std::uint32_t size = 0;     // 0: the format does not say
  std::vector<OpRecord> ops;  // in the order of the file
  std::uint64_t dropped = 0;  // ops that the writer says it lost
};

// One file.
struct FileRecord {
  std::vector<CommPart> parts;
  std::uint64_t objects = 0;
  std::uint64_t skipped = 0;  // objects that made no sense
  std::uint64_t first_skipped_at = 0;
  bool cut = false;
};

// "AllReduce", as NCCL names its functions.
CollectiveKind KindOfFunction(std::string_view name);

// Of "ncclFloat32" and its like; 0 for what is not known.
std::uint64_t BytesOfType(std::string_view name);

}  // namespace fathom::collector::nccl

#endif  // FATHOM_COLLECTOR_IMPORT_NCCL_OP_RECORD_H_
