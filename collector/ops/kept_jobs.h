// Which jobs' ops are wanted all the time: what --stream and --stream-jobs say.
//
// Made by serve, asked by ingest for each message, told to agents in the hello.
// Thread-safety: immutable after construction. Errors: none; config checks the texts.
// Cost: O(names).
#ifndef FATHOM_COLLECTOR_OPS_KEPT_JOBS_H_
#define FATHOM_COLLECTOR_OPS_KEPT_JOBS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom::collector {

class KeptJobs {
 public:
  // Names of jobs; "*" at the end of one stands for any ending.
  explicit KeptJobs(std::vector<std::string> names = {}) : names_(std::move(names)) {}

  bool Holds(std::string_view job) const {
    for (std::string_view name : names_) {
      const bool open = name.ends_with('*');
      if (open) name.remove_suffix(1);
      if (open ? job.starts_with(name) : job == name) return true;
    }
    return false;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_OPS_KEPT_JOBS_H_
