// Which part of a window each function of a rank is on its critical path (EROICA's β).
//
// Used by functions/patterns/patterns. Model: at each moment the credit goes to one running
// execution: that of the highest class (compute on a device before copies before collectives before
// the host's code), and of these the one that began last, which is the innermost of nested ones.
// Time in which nothing runs is nobody's.
//
// Units: ns. Thread-safety: pure. Errors: none; executions outside of the window count for nothing.
// Cost: O(executions × log).
// Source: Guan et al., EROICA (NSDI 2026), behaviour patterns.
#ifndef FATHOM_DIAGNOSIS_FUNCTIONS_PATTERNS_CRITICAL_SHARE_H_
#define FATHOM_DIAGNOSIS_FUNCTIONS_PATTERNS_CRITICAL_SHARE_H_

#include <cstdint>
#include <vector>

namespace fathom::diagnosis {

// From the first to be credited to the last.
enum class FunctionClass : std::uint8_t { kCompute, kMemory, kCollective, kHost };

struct Execution {
  std::uint32_t function = 0;
  FunctionClass of = FunctionClass::kHost;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::vector<float> utilisation;  // of its resource, 0 to 1, evenly over it; empty: not told
};

// By number of the function, as long as the largest number needs; each 0 to 1.
std::vector<double> CriticalShares(const std::vector<Execution>& executions, std::int64_t begin,
                                   std::int64_t end);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_FUNCTIONS_PATTERNS_CRITICAL_SHARE_H_
