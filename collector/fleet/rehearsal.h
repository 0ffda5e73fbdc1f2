// A simulated job played once in this process, before its agents play it to a collector.
//
// Used by live_play, row_log, fathom-fleet and its experiment. Model: the engine is beside it, as
// in `simulate`: the rehearsal tells what a collector will see, what it will probably ask for, and
// what the verdict is when nothing crosses a network.
//
// Thread-safety: plain values. Memory: the summaries of all iterations, some 350 bytes a rank and
// iteration.
#ifndef FATHOM_COLLECTOR_FLEET_REHEARSAL_H_
#define FATHOM_COLLECTOR_FLEET_REHEARSAL_H_

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "collector/simulate/trial/session.h"

namespace fathom::simulate {

struct Rehearsal {
  std::vector<diagnosis::IterationSummary> iterations;  // all that ended
  std::vector<diagnosis::Group> groups;
  std::vector<diagnosis::RankFacts> ranks;  // at the end: of a job that hangs, how
  std::set<std::pair<RankId, Iteration>> fetched;
  Outcome outcome;
};

Rehearsal Rehearse(const Scenario& scenario, const std::function<double()>& now,
                   const std::function<bool()>& stopped);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_FLEET_REHEARSAL_H_
