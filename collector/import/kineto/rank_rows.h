// The rows and iterations of one rank out of its trace.
//
// Used by JobBuilder, for the view and for the tables where no device worked; the model is
// described there. TimeOf() by step_search too. Thread-safety: pure functions. Errors: none.
// Cost: O(ops log ops).
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_RANK_ROWS_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_RANK_ROWS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/import/kineto/trace/comm_joiner.h"
#include "collector/import/kineto/trace/rank_trace.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/tables/rank_tables.h"

namespace fathom::collector::kineto {

struct RankIterations {
  diagnosis::RankRows rows;
  std::map<std::int64_t, diagnosis::RankIteration> iterations;  // by step number
  diagnosis::RankTables tables;
  Nanos busy;    // of the training thread, waits left out: what CommOp::cpu_at_enter counts
  Nanos device;  // likewise of the device
  bool guessed_groups = false;
  std::uint64_t unnamed_ops = 0;  // of a group that cannot be told
  std::uint64_t calls_without_run = 0;
  std::uint64_t runs_without_call = 0;
  std::uint64_t steps_in_part = 0;  // of a cut trace, left out
};

RankIterations ReadRank(const RankTrace& trace);

// Adds a later window of the same rank.
void Append(RankIterations later, RankIterations& all);

// A time of the trace on the wall clock of its host, as all times of the view are.
MonoNs TimeOf(const RankTrace& trace, std::int64_t time);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_RANK_ROWS_H_
