// Whether ranks that do the same work differ in a job that is not slow against its own past: it was
// so from the start, or comes and goes. Part of Watch().
//
// Model: peers/outliers over the newest iterations of the window, from summaries alone; the
// account (ledger/accounting) is then made of rows. The first iterations of a job are passed
// over: start-up is no work. A rank of a role of one or two that computes several times as long as
// all others, which wait, is asked about too.
//
// Units: as the view. Thread-safety: pure. Errors: none.
// Cost: O(ranks × iterations looked at × log ranks); fewer iterations of a large job.
#ifndef FATHOM_DIAGNOSIS_WATCH_PEER_LOOK_H_
#define FATHOM_DIAGNOSIS_WATCH_PEER_LOOK_H_

#include <map>
#include <optional>

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/watch/watch.h"

namespace fathom::diagnosis {

// Since when the job is slow against its own past, and what each slow iteration since then lost.
struct SlowSince {
  std::optional<Iteration> first;    // null: it is not
  std::map<Iteration, double> lost;  // seconds
};

// The rows that would tell who it is; null: all are alike, or too few iterations are known. Of a
// job that is slow against its past only those are told who came and went before it became slow and
// explain most of what is slow since: such a job is as it always was.
std::optional<RowsWanted> LookAtPeers(const JobView& view, const DiagnosisConfig& config,
                                      const SlowSince& since);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_WATCH_PEER_LOOK_H_
