// Ranks of a job that stands still, made up by hand, and what diagnosis says of it.
//
// Used by the tests of hang/live/hang. Thread-safety: thread-compatible. Errors: none.
#ifndef FATHOM_TESTS_DIAGNOSIS_HANG_LIVE_HANG_JOB_H_
#define FATHOM_TESTS_DIAGNOSIS_HANG_LIVE_HANG_JOB_H_

#include <cstdint>

#include "diagnosis/engine/diagnose.h"
#include "diagnosis/watch/watch.h"

namespace fathom::diagnosis {

// Sleeps on a lock, and has said nothing for 20 s.
inline RankFacts Facts(std::uint32_t rank) {
  RankFacts facts;
  facts.rank = RankId(rank);
  facts.state = ProcessState::kSleeping;
  facts.wait_channel = "futex_wait_queue";
  facts.silent_for = Nanos::FromSeconds(20);
  facts.typical_iteration = Nanos::FromSeconds(0.1);
  facts.iterations_seen = 100;
  return facts;
}

inline PathState PathTo(std::uint32_t peer, std::uint32_t backoff, std::uint64_t queued) {
  PathState path;
  path.peer = RankId(peer);
  path.backoff = backoff;
  path.queued = queued;
  return path;
}

inline Diagnosis Say(const JobView& view) {
  const DiagnosisConfig config;
  return Diagnose(view, Watch(view, config), config);
}

}  // namespace fathom::diagnosis

#endif  // FATHOM_TESTS_DIAGNOSIS_HANG_LIVE_HANG_JOB_H_
