#include "collector/job/state/job_moment.h"

namespace fathom::collector {

JobMoment MomentOf(const JobFigures& figures, const Clock& clock) {
  return {.job = figures.name,
          .started = figures.started,
          .iteration = Iteration(figures.iteration),
          .wall = clock.Wall(),
          .mono = clock.Mono(),
          .recalled = figures.recalled,
          .authenticated = figures.authenticated};
}

}  // namespace fathom::collector
