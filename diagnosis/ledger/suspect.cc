#include "diagnosis/ledger/suspect.h"

namespace fathom::diagnosis {

void DateShare(const Outlier& outlier, const std::vector<Iteration>& iterations,
               AccountShare& share) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < outlier.in.size(); ++i) {
    if (outlier.in[i]) at.push_back(i);
  }
  if (at.empty()) return;
  share.since = iterations[at.front()];
  share.until = iterations[at.back()];
  const std::size_t gap = at.size() > 1 ? at[1] - at[0] : 0;
  bool periodic = at.size() > 2 && gap > 1;
  for (std::size_t k = 1; k < at.size(); ++k) periodic = periodic && at[k] - at[k - 1] == gap;
  if (periodic) share.every = static_cast<std::int64_t>(gap);
  if (outlier.lasting) {
    share.since = iterations[outlier.first];
    share.from_start = outlier.first <= 1;
    share.every = 0;
  } else {
    share.from_start = at.front() == 0 || (periodic && at.front() < gap);
  }
}

}  // namespace fathom::diagnosis
