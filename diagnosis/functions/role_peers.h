// Which captured ranks a rank is compared with: those that do the same work.
//
// Used by functions/name_function and functions/compare_ranks. Model: peers/peers on the newest
// iterations of the view. Thread-safety: pure. Errors: none; a rank that the view does not know has
// no peers but others of that kind. Cost: that of peers/peers, once.
#ifndef FATHOM_DIAGNOSIS_FUNCTIONS_ROLE_PEERS_H_
#define FATHOM_DIAGNOSIS_FUNCTIONS_ROLE_PEERS_H_

#include <cstddef>
#include <vector>

#include "diagnosis/model/job_view.h"
#include "diagnosis/model/stack_capture.h"
#include "diagnosis/peers/peers.h"

namespace fathom::diagnosis {

class RolePeers {
 public:
  explicit RolePeers(const JobView& view);
  // Without the rank itself.
  std::vector<RankId> Of(RankId rank, const StackCapture& capture) const;

 private:
  std::size_t RoleOf(RankId rank) const;
  Peers peers_;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_FUNCTIONS_ROLE_PEERS_H_
