// Reads the Chrome trace of NCCL's example profiler plugin: one file a communicator and rank.
//
// Used by ProfilerTraceImporter, its tests and its fuzzer. docs/formats/nccl_profiler_trace.md.
//
// Model: a list of asynchronous events, printed op by op: COLL or P2P begins, the kernels of its
// channels (GPU, KernelCh) and its proxy events follow, then it ends. So what stands between the
// begin and the end of an op is its own. The end of COLL and P2P themselves says when the host had
// enqueued the op or when its last child ended, whichever the mask asked for, and is not used; an
// op is timed by its kernels. The file says neither the size of the communicator nor the host.
//
// Units: ts is in µs since the plugin's start in that process; StartGpuClk and StopGpuClk in ns.
// Thread-safety: pure. Errors: those of the source. Cost: memory of the ops, 80 bytes each.
// Source: print_event.c(c) and plugin.c(c) of ext-profiler/example, NVIDIA/nccl v2.23 to v2.30.
#ifndef FATHOM_COLLECTOR_IMPORT_NCCL_PROFILER_TRACE_READER_H_
#define FATHOM_COLLECTOR_IMPORT_NCCL_PROFILER_TRACE_READER_H_

#include "absl/status/statusor.h"
#include "collector/import/nccl/object_splitter.h"
#include "collector/import/nccl/op_record.h"

namespace fathom::collector::nccl {

// `max_ops`: of the file; more is ResourceExhausted.
absl::StatusOr<FileRecord> ReadProfilerTrace(ByteSource source, std::uint64_t max_ops,
                                             std::size_t chunk_bytes = ObjectSplitter::kChunkBytes);

}  // namespace fathom::collector::nccl

#endif  // FATHOM_COLLECTOR_IMPORT_NCCL_PROFILER_TRACE_READER_H_
