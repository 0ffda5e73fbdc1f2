// What do stuck pieces of communication have in common: a rank, a node, or no more than a link?
//
// Used by rules hang and stopped_job. A piece is a path that moves nothing (its two ends), or an op
// that holds itself up (its members).
//
//   1 --x-- 2 --x-- 3      every piece has rank 2 in it: its network
//   1 --x-- 2              one path: the link; which end is at fault it does not show
//   node A: 0 --x-- 4, 5   two paths with rank 0 in common, but node B (4 and 5) too: the link
//                          between the nodes
//   node A: 0 --x-- 4, 1 --x-- 5, 2 --x-- 8   no rank in common, but node A
//
// Model: an end is named only if every piece has it, and of the nodes only one is in every piece.
// Ranks whose node is not known are told apart by rank alone.
//
// Thread-safety: pure functions. Cost: O(pieces × members).
#ifndef FATHOM_DIAGNOSIS_HANG_PLACE_MEETING_PLACE_H_
#define FATHOM_DIAGNOSIS_HANG_PLACE_MEETING_PLACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "diagnosis/hang/place/troubled_paths.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

// Ranks of one piece, sorted.
using Piece = std::vector<RankId>;

struct MeetingPlace {
  enum class Kind : std::uint8_t { kNone, kLink, kRank, kNode };
  Kind kind = Kind::kNone;
  std::vector<RankId> ranks;       // the two ends, the rank, or the ends on the node; sorted
  std::vector<std::string> nodes;  // of a link between nodes the two; of a node that one
};

std::vector<Piece> PiecesOf(const TroubledPaths& found);

MeetingPlace WhereTheyMeet(const JobView& view, const std::vector<Piece>& pieces);

// Of the paths alone. kNone where some rank is deaf: then its process is at fault, not a path.
MeetingPlace WherePathsMeet(const JobView& view, const TroubledPaths& found);

// "Every connection that is stuck ends at rank 2: its network is down." kNone: empty.
std::string InWords(const MeetingPlace& place);

// Entity, victims and what to do of a verdict on `place`. Requires: not kNone.
void NamePlace(const JobView& view, const MeetingPlace& place, Verdict& verdict);

// What to do where it is not known which end of a connection is at fault, or which connection.
void AdviseOnConnections(Verdict& verdict);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_PLACE_MEETING_PLACE_H_
