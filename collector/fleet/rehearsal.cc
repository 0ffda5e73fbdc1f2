#include "collector/fleet/rehearsal.h"

namespace fathom::simulate {

Rehearsal Rehearse(const Scenario& scenario, const std::function<double()>& now,
                   const std::function<bool()>& stopped) {
  Rehearsal rehearsal;
  constexpr std::size_t kSlots = 29;  // that a collector keeps of a rank of five communicators
  SessionOptions options;
  options.window = kSlots;
  options.now = now;
  options.stopped = stopped;
  // As often as a collector looks that is not busy.
  options.look_every = 1;
  options.look_ahead = true;
  options.played = [&](const diagnosis::IterationSummary& iteration) {
    rehearsal.iterations.push_back(iteration);
  };
  Session session(scenario, options);
  rehearsal.outcome = session.Run();
  rehearsal.groups = session.view().groups;
  rehearsal.ranks = session.view().ranks;
  rehearsal.fetched = session.at_hand();
  return rehearsal;
}

}  // namespace fathom::simulate
