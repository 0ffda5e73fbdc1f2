// Seconds of CPU time of this process: how long things take, whatever else the machine does. One
// thread does all of it, so it is what a quiet machine's clock would show. The one place of this
// folder that reads a clock; tests hand in their own. Thread-safety: thread-safe.
#ifndef FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_CPU_TIME_H_
#define FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_CPU_TIME_H_

#include <ctime>

namespace fathom::simulate {

inline double CpuSeconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_CPU_TIME_H_
