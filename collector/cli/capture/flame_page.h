// A differential flame graph of a capture as one HTML file that opens without a network.
//
// Used by the verb `profile`. Model: the stacks of the rank that stands out, the outermost frame on
// top, as wide as their share of its time; red where it spends more time there than its peers do on
// average, blue where less. Frames below kLeastShare are left out, which is said.
//
// Thread-safety: pure. Errors: a capture without stacks is a page that says so. Cost: O(frames).
#ifndef FATHOM_COLLECTOR_CLI_CAPTURE_FLAME_PAGE_H_
#define FATHOM_COLLECTOR_CLI_CAPTURE_FLAME_PAGE_H_

#include <string>

#include "collector/cli/capture/capture_stacks.h"

namespace fathom::cli {

inline constexpr double kLeastShare = 0.002;

std::string FlamePage(const StackDifference& difference, const std::string& job);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_CAPTURE_FLAME_PAGE_H_
