// How much of its time a rank spends in each function, and at each of its lines.
//
// Used by functions/compare. Model: a place is a function, or a line of one; a sample counts for
// every place of the user's own code on its stack, once each. Samples that wait inside a collective
// count for none: what others wait for is nobody's function.
//
// Units: shares of all samples, 0 to 1. Thread-safety: pure. Cost: O(stacks × depth × log).
#ifndef FATHOM_DIAGNOSIS_FUNCTIONS_FUNCTION_SHARES_H_
#define FATHOM_DIAGNOSIS_FUNCTIONS_FUNCTION_SHARES_H_

#include <compare>
#include <cstdint>
#include <map>
#include <string_view>

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
  double depth = 0;   // frames of the user's own further in, mean
  bool line = false;  // it is the line of a frame, or a frame without one (an op, native code)
};

using PlaceShares = std::map<Place, PlaceShare>;

// It refers to the strings of `stacks`.
PlaceShares SharesOf(const RankStacks& stacks);

// Whether a stack stands in a collective call, as PyTorch's Python side names it.
bool WaitsInCollective(const RankStacks& stacks, const CapturedStack& stack);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_FUNCTIONS_FUNCTION_SHARES_H_
