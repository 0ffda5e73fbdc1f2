#include "diagnosis/rules/registry.h"

#include "diagnosis/rules/always_late.h"
#include "diagnosis/rules/arrival.h"
#include "diagnosis/rules/communication_slow.h"
#include "diagnosis/rules/hang.h"
#include "diagnosis/rules/hot_experts.h"
#include "diagnosis/rules/imbalance.h"
#include "diagnosis/rules/odd_group.h"
#include "diagnosis/rules/slow_worker.h"
#include "diagnosis/rules/stopped_job.h"
#include "diagnosis/rules/unequal_work.h"
#include "diagnosis/rules/walk_back.h"

namespace fathom::diagnosis {

const std::vector<Rule>& AllRules() {
  static const std::vector<Rule> kRules = {
      ArrivalRule(),    WalkBackRule(),   CommunicationSlowRule(), ImbalanceRule(),
      HangRule(),       StoppedJobRule(), SlowWorkerRule(),        UnequalWorkRule(),
      AlwaysLateRule(), OddGroupRule(),   HotExpertsRule()};
  return kRules;
}

}  // namespace fathom::diagnosis
