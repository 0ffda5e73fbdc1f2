// The part of an execution in which its resource is at work: what its pattern is measured over.
//
// Used by functions/patterns/patterns. Model: of the utilisation over an execution, the part that
// holds at least kOfArea of all, for the smallest gap that has to be tolerated: runs of samples
// above zero are joined across gaps of at most g samples, and g is the least for which one run
// holds enough. It strips the waiting off a collective that its last member enters late.
//
// Thread-safety: pure. Errors: nothing at work gives an empty part. Cost: O(samples × log samples).
// Source: EROICA, algorithm 1, as read: binary search of the gap.
#ifndef FATHOM_DIAGNOSIS_FUNCTIONS_PATTERNS_CRITICAL_DURATION_H_
#define FATHOM_DIAGNOSIS_FUNCTIONS_PATTERNS_CRITICAL_DURATION_H_

#include <cstddef>
#include <span>

namespace fathom::diagnosis {

inline constexpr double kOfArea = 0.8;

struct SamplePart {
  std::size_t begin = 0;
  std::size_t end = 0;  // behind the last
  bool empty() const { return end <= begin; }
};

// Of runs that hold as much, the first.
SamplePart CriticalDuration(std::span<const float> utilisation);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_FUNCTIONS_PATTERNS_CRITICAL_DURATION_H_
