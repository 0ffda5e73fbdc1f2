// A record of the journal as bytes, and back: what an agent told, and who told it.
//
// Used by journal and by ingest/replay. docs/formats/journal.md has the bytes.
//
// Thread-safety: plain values; pure functions. Errors: nothing of bytes that are no record.
// Cost: a serialisation, a parse.
#ifndef FATHOM_COLLECTOR_JOURNAL_JOURNAL_RECORD_H_
#define FATHOM_COLLECTOR_JOURNAL_JOURNAL_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fathom/v1/agent.pb.h"
#include "proto/types/time_units.h"

namespace fathom::collector {

// Who told it, and how it was taken.
struct Teller {
  std::string node;
  std::string boot_id;         // of the node; empty: not told
  bool authenticated = false;  // it is known whose agent it was
  bool anew = false;           // a new life of the job began with it
};

struct Told {
  WallNs when;  // the collector's clock
  Teller teller;
  v1::AgentMessage message;
};

// What is at the head of each segment, of a rank, in this order.
enum class HeadKind : std::uint8_t { kProcess, kGroup, kDeath };

std::string RecordOf(const Teller& teller, const v1::AgentMessage& message, WallNs when);
std::optional<Told> ToldOf(std::string_view record);

std::string ConclusionOf(const std::string& job);
std::optional<std::string> ConcludedIn(std::string_view record);

// The same words of the same teller, be it at another time. Requires: both are records of Told.
bool SameWords(std::string_view one, std::string_view other);
// As it stands at the head of a segment, where no life begins.
std::string AtHead(std::string record);

// Which head of its rank a message is, and of which rank of which job. Nothing: of none.
struct HeadPlace {
  std::string job;
  std::uint32_t rank = 0;
  std::pair<HeadKind, std::uint64_t> key;
};
std::optional<HeadPlace> PlaceOf(const v1::AgentMessage& message);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOURNAL_JOURNAL_RECORD_H_
