// Reads what the NCCL Inspector plugin writes: one JSON object an op, format v4.0 to v4.3.
//
// Used by InspectorImporter, its tests and its fuzzer. docs/formats/nccl_inspector.md.
//
// Model: `header` (communicator, rank) and `metadata` (host, process) stand in every object up to
// v4.2; from v4.3 only in the `dump_stats` object that precedes the ops of one communicator, so the
// newest ones are kept. `coll_perf` and `p2p_perf` are ops. Their times stand in `event_trace_ts`,
// which is written in verbose mode alone: µs of the wall clock, when the plugin heard of it; the
// device's own clock gives coll_exec_time_us, the longest run of a channel. The run is taken to end
// when the last channel's end was heard, and to have begun that long before.
//
// Thread-safety: pure. Errors: those of the source; what makes no sense is counted in the record.
// Cost: memory of the ops, 80 bytes each.
// Source: inspector_json.cc, inspector_plugin.cc and README of NVIDIA/nccl, tags v2.28 to v2.30 and
// the tree after them.
#ifndef FATHOM_COLLECTOR_IMPORT_NCCL_INSPECTOR_READER_H_
#define FATHOM_COLLECTOR_IMPORT_NCCL_INSPECTOR_READER_H_

#include "absl/status/statusor.h"
#include "collector/import/nccl/object_splitter.h"
#include "collector/import/nccl/op_record.h"

namespace fathom::collector::nccl {

// `max_ops`: of the file; more is ResourceExhausted.
absl::StatusOr<FileRecord> ReadInspector(ByteSource source, std::uint64_t max_ops,
                                         std::size_t chunk_bytes = ObjectSplitter::kChunkBytes);

}  // namespace fathom::collector::nccl

#endif  // FATHOM_COLLECTOR_IMPORT_NCCL_INSPECTOR_READER_H_
