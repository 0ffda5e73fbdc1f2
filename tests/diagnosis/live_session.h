// Goes through a played job as the collector does live: Watch() after every iteration, the rows it
// wants, Diagnose().
//
// Used by the tests of diagnosis. Plain values.
#ifndef FATHOM_TESTS_DIAGNOSIS_LIVE_SESSION_H_
#define FATHOM_TESTS_DIAGNOSIS_LIVE_SESSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "diagnosis/engine/diagnose.h"
#include "diagnosis/model/config.h"
#include "diagnosis/watch/watch.h"

namespace fathom::diagnosis::testing {

struct LiveOutcome {
  std::vector<Verdict> ever;  // every (cause, entity) that was said at any time, at its strongest
  Suspicion suspicion;        // the last
  Diagnosis diagnosis;        // the last
  std::int64_t first_verdict = -1;  // iterations done when the first one came
};

// What a collector's window holds of a live view: the `newest` iterations, and those around the
// onset of the episode that is handed back.
void KeepWindow(std::size_t newest, JobView& view);

// `every`: Watch() is called after every so many iterations. `newest`: as for KeepWindow().
LiveOutcome RunLive(const JobView& whole, const DiagnosisConfig& config, std::size_t every = 1,
                    std::size_t newest = 1 << 20);

// "compute_slow 2" or "communication_slow group 0 1".
std::string NameOf(const Verdict& verdict);

}  // namespace fathom::diagnosis::testing

#endif  // FATHOM_TESTS_DIAGNOSIS_LIVE_SESSION_H_
