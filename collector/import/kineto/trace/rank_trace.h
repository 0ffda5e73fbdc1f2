// What one trace says about its rank, distilled: the part of the events that diagnosis needs.
//
// Made by RankTraceBuilder from the stream of events; CommOps and JobBuilder read it.
//
// Model: a communication shows up as up to three events, kept apart here and joined in CommOps:
//   kCall    on the thread that asked for it: `record_param_comms`, `c10d::…` or `nccl:…`. Its
//            begin is the arrival of the host. Of one op there can be all three, nested; CallSource
//            tells them apart.
//   kHostRun on a worker thread: `gloo:…`; for send and recv on the calling thread.
//   kKernel  on the device: an NCCL kernel.
// A trace is one window of the profiler: windows.h cuts a file that holds several.
//
// Units: ns since header.base_ns. Thread-safety: plain values.
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_RANK_TRACE_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_RANK_TRACE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/import/kineto/trace/trace_event.h"
#include "collector/import/kineto/trace/trace_reader.h"
#include "collector/import/kineto/trace/work_log.h"
#include "diagnosis/functions/patterns/pattern_table.h"
#include "diagnosis/model/comm_op.h"
#include "diagnosis/model/stack_capture.h"
#include "diagnosis/tables/device_timeline.h"
#include "diagnosis/tables/rank_tables.h"
#include "proto/types/collective_kind.h"
#include "proto/types/data_type.h"

namespace fathom::collector::kineto {

enum class CommPart : std::uint8_t { kCall, kHostRun, kKernel };

// Where a call was read, from the best told to the least.
enum class CallSource : std::uint8_t { kParameters, kC10d, kAnnotation };

struct CommEvent {
  CommPart part = CommPart::kCall;
  CallSource source = CallSource::kC10d;
  CollectiveKind kind = CollectiveKind::kUnknown;
  DataType data_type = DataType::kUnknown;
  bool asynchronous = false;  // the caller said that it waits later
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t thread = kAbsent;    // of a kernel: its stream
  std::int64_t elements = kAbsent;  // of an all-to-all: received by the rank
  std::int64_t sequence = kAbsent;  // as PyTorch counts: from 1
  std::int64_t peer = kAbsent;      // in the numbers of the group, unless peer_is_global
  bool peer_is_global = false;
  std::int64_t external_id = kAbsent;
  std::int64_t correlation = kAbsent;
  std::int64_t group_size = kAbsent;
  std::string group;  // name; empty: the event does not say
};

struct StepMark {
  std::int64_t number = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t thread = kAbsent;
  std::int64_t anchor = kAbsent;  // end of the last op before it, where it was put behind that op
};

struct MarkEvent {
  diagnosis::MarkKind kind = diagnosis::MarkKind::kGc;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t thread = kAbsent;
};

// A Python function, op or annotation that took long; shorter ones are not kept.
struct PythonCall {
  std::string name;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t thread = kAbsent;
};

// The ops (cpu_op) of a thread.
struct ThreadOps {
  IntervalSet busy;
  IntervalSet waiting;               // those that only wait for a communication
  std::vector<std::int64_t> begins;  // of every op, nested ones too; sorted
};

// A kernel that computes, by the blocks of threads that it ran.
struct KernelGrid {
  std::int64_t begin = 0;
  std::int64_t blocks = 0;
};

struct RankTrace {
  std::string path;
  std::uint32_t rank = 0;
  bool rank_guessed = false;  // from the name of the file
  std::int64_t process = kAbsent;
  std::int64_t device = kAbsent;  // number of its GPU on the node, as its first kernel tells
  ReadSummary summary;
  std::vector<StepMark> steps;   // by begin
  std::vector<CommEvent> comms;  // by begin
  std::vector<MarkEvent> marks;
  std::vector<PythonCall> python;
  std::vector<PythonCall> annotations;            // by begin; numbers in their names left out
  diagnosis::RankStacks stacks;                   // of its training thread, in its steps
  std::vector<diagnosis::NamedPattern> patterns;  // in its steps; where they are asked for
  std::map<std::int64_t, ThreadOps> ops_by_thread;
  IntervalSet device_busy;                   // kernels that compute, and copies
  std::vector<KernelGrid> grids;             // by begin; of kernels that tell one
  Launches launches;                         // of communication, once the trace is whole
  diagnosis::RankWork work;                  // until tables are made of it
  diagnosis::RankTables tables;              // where a device worked
  diagnosis::DeviceTimeline timeline;        // where it is asked for
  std::map<std::string, TraceGroup> groups;  // by name
  std::int64_t first = 0;                    // of all timed events
  std::int64_t last = 0;
  bool cut = false;                    // its file ends early
  std::int64_t last_thread = kAbsent;  // of the last event of a host thread in the file
  std::int64_t last_begin = kAbsent;

  bool on_device() const { return !device_busy.empty(); }
};

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_RANK_TRACE_H_
