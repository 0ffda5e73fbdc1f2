// How much of its time a rank spends in each function, and at each of its lines; beside its peers.
//
// Used by functions/compare and functions/chance. Model: a place is a function, or a line of one; a
// sample counts for every place of the user's own code on its stack, once each. Samples that wait
// inside a collective count for none: what others wait for is nobody's function.
//
// Units: shares of all samples, 0 to 1. Thread-safety: pure. Cost: O(stacks × depth × log).
#ifndef FATHOM_DIAGNOSIS_FUNCTIONS_FUNCTION_SHARES_H_
#define FATHOM_DIAGNOSIS_FUNCTIONS_FUNCTION_SHARES_H_

#include <compare>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "diagnosis/model/stack_capture.h"

namespace fathom::diagnosis {

struct Place {
  std::string_view function, file;  // of the capture
  std::uint32_t line = 0;           // 0: anywhere in the function
  auto operator<=>(const Place&) const = default;
};

struct PlaceShare {
  double whole = 0;   // of its samples that show the place
  double own = 0;     // of these, those in which it is the innermost of the user's own
  bool line = false;  // it is the line of a frame, or a frame without one (an op, native code)
};

using PlaceShares = std::map<Place, PlaceShare>;

// It refers to the strings of `stacks`.
PlaceShares SharesOf(const RankStacks& stacks);

// Of each stack, whether it counts for the place.
std::vector<bool> ShowsPlace(const RankStacks& stacks, const Place& place);

// Whether a stack stands in a collective call, as PyTorch's Python side names it.
bool WaitsInCollective(const RankStacks& stacks, const CapturedStack& stack);

// A place of a rank beside what its peers spend in it. The excess of a place is the rank's share
// less the median of its peers'; of several that hold it the innermost is the one to name.
struct Candidate {
  Place place;
  PlaceShare mine;
  double peers = 0;
  double own_peers = 0;

  double excess() const { return mine.whole - peers; }
};

using Candidates = std::vector<Candidate>;

struct AlikeLimits {
  double shared = 0;  // a place that peers spend so much of their time in as well
  double alike = 0;   // as much growth, of that of the place, is growth alike
};

Candidates CandidatesOf(const PlaceShares& mine, const std::vector<PlaceShares>& peers);

// All that the culprit has beyond its peers, each sample at its innermost line.
double ExcessOf(const Candidates& all);

// Those with so much excess. What calls all that the rank does is none of them, unless it lies in
// itself.
Candidates LargeOf(const Candidates& all, double least);

// The one that lies further in than each other wherever a stack shows both; a line before its
// function, and of two that no stack shows together the one with less of the time. Stacks that end
// too soon (a generator's, read while it moves) do not count against it. Null: there is none.
const Candidate* InnermostOf(const RankStacks& stacks, const Candidates& all);

// Whether most of what the culprit does besides has grown as the place has.
bool GrownAlike(const Candidates& all, const Candidate& named, const AlikeLimits& limits);

// Of a function whose lines share the excess, the line with most of it.
std::uint32_t LineOf(const Candidates& all, const Candidate& named);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_FUNCTIONS_FUNCTION_SHARES_H_
