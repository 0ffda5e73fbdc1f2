// Which jobs' ops are wanted all the time: what --stream and --stream-jobs say.
//
// Made by config (Finalize), asked by ingest for each message, told to agents in the hello.
// Thread-safety: immutable after construction. Errors: none.
// Cost: O(names).
#ifndef FATHOM_COLLECTOR_OPS_KEPT_JOBS_H_
#define FATHOM_COLLECTOR_OPS_KEPT_JOBS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/types/job_names.h"

namespace fathom::collector {

class KeptJobs {
 public:
  // Names of jobs; "*" at the end of one stands for any ending.
  explicit KeptJobs(std::vector<std::string> names = {}) : names_(std::move(names)) {}

  bool Holds(std::string_view job) const { return NamesJob(names_, job); }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_OPS_KEPT_JOBS_H_
