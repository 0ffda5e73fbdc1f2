#include "diagnosis/slowness/judge/slow_verdict.h"

#include "diagnosis/evidence/cost.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {

Verdict SlowVerdict(const Case& c, Cause cause, EntityType type, double share) {
  Verdict verdict;
  verdict.cause = cause;
  verdict.grade = Grade::kSupported;
  verdict.problem = ClassOf(cause);
  verdict.owner = OwnerOf(cause);
  verdict.entity.type = type;
  verdict.since_iteration = c.suspicion.onset;
  verdict.since_time = c.suspicion.onset_time;
  verdict.cost = CostOfSlowness(c.view, c.suspicion, share);
  return verdict;
}

}  // namespace fathom::diagnosis
