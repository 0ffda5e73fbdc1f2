// Decides whether one record copied out of a ring may be believed, field by field.
//
// Used by ring_consumer before anything else looks at a record.
//
// Model: every enum is range-checked and every field must make sense for its kind; what a newer
// minor version may have added (unknown RecordKind, unknown flag bits) is told apart from garbage.
// Thread-safety: pure. Errors: the verdict. Cost: a few compares, no branch on data beyond them.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_RING_RECORD_VALIDATOR_H_
#define FATHOM_DAEMON_AGENT_SOURCE_RING_RECORD_VALIDATOR_H_

#include "daemon/abi/event_record.h"

namespace fathom::agent {

enum class RecordVerdict : std::uint8_t {
  kValid,
  kUnknownKind,  // RecordKind out of our range: newer tracer, or garbage
  kBadField,
};

// Requires: `now_ns` is CLOCK_MONOTONIC of this node; times after it by more than one second, and
// times not after zero, are bad.
RecordVerdict ValidateRecord(const abi::EventRecord& record, std::int64_t now_ns);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_RING_RECORD_VALIDATOR_H_
