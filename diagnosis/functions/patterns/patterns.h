// The patterns of a rank's functions in a window: all that leaves the node of what it ran.
//
// Used on traces (collector/import) and by functions/patterns/localise. docs/rules/patterns.md.
//
// Model: β is the share of the window in which the function is on the critical path
// (critical_share.h); μ and σ are mean and standard deviation of its resource's utilisation over
// the critical durations of its executions (critical_duration.h), all samples alike. Where nothing
// tells utilisation, μ is 1 and σ is 0 for all, so that they neither join nor part anybody.
//
// Units: 0 to 1. Thread-safety: pure. Errors: none. Cost: that of its parts.
#ifndef FATHOM_DIAGNOSIS_FUNCTIONS_PATTERNS_PATTERNS_H_
#define FATHOM_DIAGNOSIS_FUNCTIONS_PATTERNS_PATTERNS_H_

#include <cstdint>
#include <vector>

#include "diagnosis/functions/patterns/critical_share.h"

namespace fathom::diagnosis {

struct FunctionPattern {
  std::uint32_t function = 0;
  FunctionClass of = FunctionClass::kHost;
  float beta = 0, mu = 1, sigma = 0;
};

// By number of the function; those without a share are left out.
std::vector<FunctionPattern> PatternsOf(const std::vector<Execution>& executions,
                                        std::int64_t begin, std::int64_t end);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_FUNCTIONS_PATTERNS_PATTERNS_H_
