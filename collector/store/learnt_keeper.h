// Keeps what was learnt of each running job in the store, and hands it back after a restart.
//
// Owned by the collector: called by JobTable with each new job (Met, from any thread), and by the
// diagnoser's thread after each look and at its end. Thread-safety: Met is thread-safe, the others
// are of one thread. Errors: those of the store, which counts and shows them. Cost: a write of some
// KB each kEvery (or as many times that as the budget wants) a job, and when an episode begins or
// ends.
#ifndef FATHOM_COLLECTOR_STORE_LEARNT_KEEPER_H_
#define FATHOM_COLLECTOR_STORE_LEARNT_KEEPER_H_

#include <map>
#include <string>

#include "collector/budget/centre_work.h"
#include "collector/job/state/job_state.h"
#include "collector/process/clock.h"
#include "collector/store/store.h"

namespace fathom::collector {

class LearntKeeper {
 public:
  static constexpr Nanos kEvery{10'000'000'000};

  // All outlive it. `work`: where writes are counted; may be null.
  LearntKeeper(Store& store, const Clock& clock, CentreWork* work = nullptr)
      : store_(store), clock_(clock), work_(work) {}

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
  CentreWork* const work_;
  std::map<std::string, Kept> kept_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_LEARNT_KEEPER_H_
