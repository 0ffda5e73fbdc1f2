// Keeps what was learnt of each running job in the store, and hands it back after a restart.
//
// Owned by the collector: called by JobTable with each new job (Met, from any thread), and by the
// diagnoser's thread after each look and at its end. Thread-safety: Met is thread-safe, the others
// are of one thread. Errors: those of the store, which counts and shows them. Cost: a write of some
// KB each kEvery a job, and when an episode begins or ends.
#ifndef FATHOM_COLLECTOR_STORE_LEARNT_KEEPER_H_
#define FATHOM_COLLECTOR_STORE_LEARNT_KEEPER_H_

#include <map>
#include <string>

#include "collector/job/state/job_state.h"
#include "collector/process/clock.h"
#include "collector/store/store.h"

namespace fathom::collector {

class LearntKeeper {
 public:
  static constexpr Nanos kEvery{10'000'000'000};

  // Both outlive it.
  LearntKeeper(Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  // What the store has of a job of this name; JobState sees whether it is the same life of it.
  void Met(JobState& job);
  void Looked(const JobState& job);
  void Ended(const std::string& job);

 private:
  struct Kept {
    MonoNs when;
    Iteration onset{-1};
  };
  Store& store_;
  const Clock& clock_;
  std::map<std::string, Kept> kept_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_LEARNT_KEEPER_H_
