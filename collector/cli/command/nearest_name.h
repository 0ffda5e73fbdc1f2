// The known name nearest to a mistyped one, for error messages.
//
// Thread-safety: pure function. Cost: O(names x length^2). Source: Levenshtein distance.
#ifndef FATHOM_COLLECTOR_CLI_COMMAND_NEAREST_NAME_H_
#define FATHOM_COLLECTOR_CLI_COMMAND_NEAREST_NAME_H_

#include <string>
#include <string_view>
#include <vector>

namespace fathom::cli {

// Empty when none is within half of its length.
std::string NearestName(std::string_view typed, const std::vector<std::string>& names);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_COMMAND_NEAREST_NAME_H_
