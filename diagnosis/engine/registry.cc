#include "diagnosis/engine/registry.h"

#include "diagnosis/hang/live/hang.h"
#include "diagnosis/hang/records/stopped_job.h"
#include "diagnosis/schedule/slow_worker.h"
#include "diagnosis/schedule/unequal_work.h"
#include "diagnosis/slowness/rules/arrival.h"
#include "diagnosis/slowness/rules/communication_slow.h"
#include "diagnosis/slowness/rules/hot_experts.h"
#include "diagnosis/slowness/rules/imbalance.h"
#include "diagnosis/slowness/rules/walk_back.h"

namespace fathom::diagnosis {

const std::vector<Rule>& AllRules() {
  static const std::vector<Rule> kRules = {
      ArrivalRule(),    WalkBackRule(),   CommunicationSlowRule(), ImbalanceRule(), HangRule(),
      StoppedJobRule(), SlowWorkerRule(), UnequalWorkRule(),       HotExpertsRule()};
  return kRules;
}

}  // namespace fathom::diagnosis
