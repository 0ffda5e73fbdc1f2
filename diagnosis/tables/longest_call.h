// Which Python function a stretch of a rank's time was spent in, where the trace has stacks.
//
// Used by job_tables for the local segments of the critical path. Model: of the functions that
// cover most of the stretch (config.mostly_share), the innermost, which is the shortest; where
// none covers so much, the one that covers most of it.
//
// Units: seconds. Thread-safety: built, then only read. Lifetime: the view must outlive it.
// Errors: an empty name where no function is known. Cost: O(functions of the iteration) a question.
#ifndef FATHOM_DIAGNOSIS_TABLES_LONGEST_CALL_H_
#define FATHOM_DIAGNOSIS_TABLES_LONGEST_CALL_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

struct LongestCall {
  std::string name;
  double seconds = 0;  // of the stretch
};

class LongestCalls {
 public:
  // `share`: of a stretch that is most of it.
  LongestCalls(const JobView& view, double share);

  LongestCall In(RankId rank, Iteration iteration, MonoNs begin, MonoNs end) const;

 private:
  double share_;
  std::map<std::pair<RankId, Iteration>, std::vector<const FunctionCall*>> calls_;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_TABLES_LONGEST_CALL_H_
