// Which op holds itself up: one that all of its members have entered, so that nobody is late, and
// that nothing else keeps any of them from carrying out. And what does not move then, in pieces.
// Part of rule hang. docs/rules/hang.md.
//
// Model: an op whose members are all inside may still wait: on a device, ops of one stream go one
// after the other, so a member whose device has not begun it may be held up in an older op, of this
// communicator or another, or by its device. The communication itself is left where every member
// has begun it, or none is known to have and none has anything older open.
//
// Thread-safety: pure functions. Cost: O(members × open ops).
#ifndef FATHOM_DIAGNOSIS_HANG_PLACE_STUCK_COMMUNICATION_H_
#define FATHOM_DIAGNOSIS_HANG_PLACE_STUCK_COMMUNICATION_H_

#include <set>
#include <vector>

#include "diagnosis/graph/wait_for.h"
#include "diagnosis/hang/place/meeting_place.h"
#include "diagnosis/hang/place/troubled_paths.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

std::vector<RankId> Inside(const StuckInstance& stuck);

bool HoldsItselfUp(const JobView& view, const StuckInstance& stuck);

// The first instance with `rank` inside that holds itself up; null: there is none. Lifetime: of the
// graph.
const StuckInstance* StuckAround(const JobView& view, const WaitFor& graph, RankId rank);

// What does not move when these ops hold themselves up: the paths of the job that move nothing, and
// the members of those ops of which no path tells more.
std::vector<Piece> StuckPieces(const TroubledPaths& found,
                               const std::set<const StuckInstance*>& stuck);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_PLACE_STUCK_COMMUNICATION_H_
