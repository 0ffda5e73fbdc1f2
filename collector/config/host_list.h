// Names as Slurm writes many in one word: "n[01-03,7],login" is n01, n02, n03, n7 and login.
//
// Used by topology_file. Model: names with commas between; a name may have ranges of numbers in
// brackets, also more than one pair of them; numbers keep the leading zeros of a range's first.
//
// Thread-safety: pure function. Errors: InvalidArgument that says what of the word is wrong; also
// of more than `most` names. Cost: O(names).
#ifndef FATHOM_COLLECTOR_CONFIG_HOST_LIST_H_
#define FATHOM_COLLECTOR_CONFIG_HOST_LIST_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::collector {

absl::StatusOr<std::vector<std::string>> ExpandHostList(std::string_view text, std::size_t most);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CONFIG_HOST_LIST_H_
