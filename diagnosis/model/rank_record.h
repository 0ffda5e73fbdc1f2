// What a rank left behind when a job stopped: the ops it entered, in order, and its last words.
//
// Filled by importers of dumps (collector/import); read by diagnosis/hang/records. Live jobs have
// RankFacts and rows instead.
//
// Model: sources such as PyTorch's Flight Recorder tell which ops a rank entered and in which
// order, but no times that measure anything, and often only what was still open. A rank of the job
// without any record is listed too (kMissing): a process that could not write is evidence.
//
// Units: `created` is the rank's wall clock, for display only. Thread-safety: plain values.
#ifndef FATHOM_DIAGNOSIS_MODEL_RANK_RECORD_H_
#define FATHOM_DIAGNOSIS_MODEL_RANK_RECORD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/types/collective_kind.h"
#include "proto/types/data_type.h"
#include "proto/types/ids.h"
#include "proto/types/time_units.h"

namespace fathom::diagnosis {

struct EnteredOp {
  GroupId group;
  Sequence sequence = kNoSequence;  // from 0; kNoSequence for point-to-point
  CollectiveKind kind = CollectiveKind::kUnknown;
  DataType data_type = DataType::kUnknown;
  std::uint64_t elements = 0;  // of the input
  std::uint64_t output_elements = 0;
  bool even = false;      // a kind of call in which all members must pass the same size
  RankId peer = kNoRank;  // global rank of the other end of a point-to-point op
  WallNs created;
  bool open = false;  // not finished when the record was written
  // What its device did, where the source asks it: began the op; finished it (an op that is neither
  // open nor completed ended, be it by failing).
  bool started = false;
  bool completed = false;
  std::string site;  // where the program called it, "function (file:line)"; empty: not told
};

enum class RecordExtent : std::uint8_t {
  kMissing,   // no record
  kEmpty,     // a record without any op
  kOpenOnly,  // only ops that were open
  kHistory,   // finished ones too, back to the size of the ring
};

// How the process ended by its own account.
enum class EndedBy : std::uint8_t { kNotKnown, kPeerLost, kTimeout, kOwnError };

// A connection to another rank as the transport saw it when the record was written, or now.
struct PathState {
  RankId peer;
  std::uint32_t backoff = 0;         // doublings of the retransmission timer
  std::uint64_t unacknowledged = 0;  // segments sent and not confirmed
  Nanos since_received;
  std::uint64_t queued = 0;  // bytes written and not confirmed
  std::uint64_t unread = 0;  // bytes received that its process has not read
  std::uint32_t probes = 0;  // sent to a receiver that lets nothing more in
};

struct RankRecord {
  RankId rank;
  RecordExtent extent = RecordExtent::kMissing;
  bool cut = false;            // its newest part is lost: what it lacks proves nothing
  bool from_start = false;     // its ops begin with the first that the rank entered
  std::vector<EnteredOp> ops;  // in order of entry
  EndedBy ended = EndedBy::kNotKnown;
  bool output_known = false;  // what the process wrote is at hand, be it nothing
  std::string last_words;     // the line of its error that tells most
  std::string doing;          // innermost Python frame of the main thread, "function (file:line)"
  bool waiting_in_communication = false;  // its stack is inside a communication call
  std::vector<PathState> paths;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_RANK_RECORD_H_
