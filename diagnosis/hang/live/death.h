// Which process died of its own accord, and which only followed? Part of rule hang.
// docs/rules/hang.md.
//
// Model: when one process of a job dies, the launcher ends the others, or their communication fails
// and they give up. A death has causes of its own unless it was ordered from outside (SIGTERM,
// SIGINT) or the process was inside communication, or had just failed there, when it went (a signal
// that no program sends itself, like SIGKILL, counts in any case). The first death that has causes
// of its own is the one, if it leads the next such death by config.death_gap; if the very first
// death was ordered from outside, the job was ended and nobody is to blame. Where all died inside,
// the one that ended with an error and for which alone communication had not failed is told, by
// elimination: ops of another thread were in flight.
//
// Units: wall clock of the nodes; ranks of different nodes are compared by it, which is why the gap
// is far above what clocks differ by. Thread-safety: pure functions.
#ifndef FATHOM_DIAGNOSIS_HANG_LIVE_DEATH_H_
#define FATHOM_DIAGNOSIS_HANG_LIVE_DEATH_H_

#include <string>
#include <vector>

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

struct Deaths {
  std::vector<RankId> dead;      // all that did not leave in order
  std::vector<RankId> culprits;  // empty: cannot be told, see `missing`
  std::string missing;
  bool by_elimination = false;
};

Deaths JudgeDeaths(const JobView& view, const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_LIVE_DEATH_H_
