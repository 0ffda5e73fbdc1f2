// One Flight Recorder dump, typed: what a rank recorded of its process groups and ops.
//
// Used by flight_recorder_importer.cc. Formats 2.3 to 2.10, pickle and JSON, NCCL and Gloo. Field
// by field in docs/formats/flight_recorder.md.
//
// Model: a field that is absent or of another type than the format has stays unset; an entry that
// names neither group nor op is skipped and counted. Nothing here knows other ranks.
// Units: time_created_ns is the wall clock of the rank. Thread-safety: plain values.
// Errors: ReadDump gives InvalidArgument (no dump) or ResourceExhausted, with the offset.
#ifndef FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_DUMP_H_
#define FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_DUMP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/types/collective_kind.h"
#include "proto/types/data_type.h"

namespace fathom::collector::flight_recorder {

// The description of the group of all ranks.
inline constexpr std::string_view kDefaultGroup = "default_pg";

struct DumpEntry {
  std::int64_t record_id = 0;
  std::int64_t pg_id = -1;  // number of the group on this rank
  std::string group_name;   // the same on all ranks
  std::string description;
  std::optional<std::int64_t> collective_seq;  // from 1, as PyTorch counts
  std::optional<std::int64_t> p2p_seq;         // likewise, of sends and receives
  std::optional<std::int64_t> op_id;           // counts point-to-point ops too
  bool is_p2p = false;
  bool closes_batch = false;  // the entry that stands for all ops coalesced just before it
  std::string profiling_name;
  CollectiveKind kind = CollectiveKind::kUnknown;
  DataType data_type = DataType::kUnknown;
  std::uint64_t elements = 0;            // of all inputs
  std::uint64_t output_elements = 0;     // of all outputs
  bool from_thread = false;              // called by a thread that Python started, by its frames
  std::string site;                      // "reduce_loss (train.py:175)"; empty: not told
  std::optional<std::uint32_t> p2p_src;  // numbers of the members within the group
  std::optional<std::uint32_t> p2p_dst;
  std::int64_t created_ns = 0;
  std::int64_t timeout_ms = 0;
  bool open = true;        // neither retired nor completed
  bool updated = false;    // by itself: parts of a batch never are
  bool started = false;    // by the device; only where starts are timed
  bool completed = false;  // likewise; Gloo never says so
};

struct DumpGroup {
  std::string name;
  std::string description;
  std::vector<std::uint32_t> ranks;  // empty when the dump does not say
};

struct DumpStatus {
  std::int64_t pg_id = -1;
  std::int64_t enqueued = -1;  // the number of the newest op: which count depends on the backend
  std::int64_t completed = -1;
};

struct Dump {
  std::string version;
  bool gloo = false;
  std::vector<DumpGroup> groups;
  std::vector<DumpStatus> status;
  std::vector<DumpEntry> entries;  // oldest first
  std::uint64_t entries_skipped = 0;
  bool cut = false;         // the file ended early: the newest entries are lost
  bool left_out = false;    // entries of groups beside the training are
  bool from_start = false;  // the entries are all that the rank ever made
  std::vector<std::string> notes;
};

absl::StatusOr<Dump> ReadDump(std::string bytes);

// Whether these first bytes of a file can be a dump.
bool LooksLikeDump(std::string_view head);

// "nccl:all_reduce" → kAllReduce. `barrier` and coalesced forms included.
CollectiveKind KindOfProfilingName(std::string_view name);

DataType DataTypeOfTorchName(std::string_view name);  // "BFloat16", "Long", …

}  // namespace fathom::collector::flight_recorder

#endif  // FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_DUMP_H_
