// The rule of --stream-jobs: which jobs a list of names means.
//
// Used by collector/ops, which sends the list to agents, and by daemon/agent/ops.
// Thread-safety: pure function. Errors: none. Cost: O(names).
#ifndef FATHOM_PROTO_TYPES_JOB_NAMES_H_
#define FATHOM_PROTO_TYPES_JOB_NAMES_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// Whether one of the names is the job's; "*" at the end of a name stands for any ending.
inline bool NamesJob(const std::vector<std::string>& names, std::string_view job) {
  return std::any_of(names.begin(), names.end(), [job](std::string_view name) {
    if (!name.ends_with('*')) return name == job;
    name.remove_suffix(1);
    return job.starts_with(name);
  });
}

}  // namespace fathom

#endif  // FATHOM_PROTO_TYPES_JOB_NAMES_H_
