// What is kept of one run of a job: what makes it comparable, with what it was started, and its
// healthy iterations as distributions.
//
// Made by collector/runs, kept by Store as fathom.v1.RunRecord. docs/formats/history.md.
// Units: seconds; wall times for display only: the order of runs is that in which they were first
// kept, so that a clock that is set back changes nothing. Thread-safety: plain value, pure
// functions. Errors: nothing of bytes that are no record.
#ifndef FATHOM_COLLECTOR_STORE_RUN_RECORD_H_
#define FATHOM_COLLECTOR_STORE_RUN_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "diagnosis/history/job_profile.h"
#include "diagnosis/history/regression.h"
#include "diagnosis/history/run_sample.h"
#include "diagnosis/history/run_setup.h"
#include "proto/types/time_units.h"

namespace fathom::collector {

struct RunRecord {
  std::string id;  // "r" and 12 hex digits; of job and start
  std::string job;
  WallNs started;
  WallNs last_seen;
  std::int64_t iterations = 0;
  std::uint32_t ranks = 0;
  bool ended = false;
  diagnosis::JobProfile profile;
  diagnosis::RunSetup setup;
  diagnosis::Distribution first, start, whole;  // as RunSample has them; not known: not reached
  diagnosis::RunOutcome outcome = diagnosis::RunOutcome::kUnknown;
  std::string sentence;  // what came of the comparison with its history

  // Whether later runs may be held against it.
  bool healthy() const {
    return outcome != diagnosis::RunOutcome::kSlower && outcome != diagnosis::RunOutcome::kStarved;
  }
};

// How long a run held how many GPUs (processes, of a job on the CPU): the row that usage over weeks
// is made of, kept far longer than the record. A job of which no run is kept, for it was too short
// for a profile, has a row from the table of ended jobs, with an empty id and team.
struct RunTime {
  std::string id;
  std::string job;
  std::string team;  // FATHOM_TEAM in the job's environment; empty: not told
  WallNs started;
  WallNs last_seen;
  std::uint32_t ranks = 0;
};

std::string ToBytes(const RunRecord& run);
std::optional<RunRecord> RunFromBytes(std::string_view bytes);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_RUN_RECORD_H_
