// All that recordings tell of one job, unbounded by the live collector's window: every iteration of
// every rank, and every op.
//
// Used by replay.h: rows for each diagnosis on the way, and at the end the JobView that tables,
// timelines and exports read.
//
// Model: summaries are placed by the same IterationAligner as live; the rows of a rank follow its
// summaries in the recording, so its own count is turned into the job's with the offset at hand.
// Times are the node's monotonic clock until TakeInto() turns them into its wall time, with one
// offset a rank: all times of one rank stay on one clock. Beyond kMaxSummaries rank-iterations or
// kMaxRows ops the oldest iteration leaves first, and forgotten() says so.
//
// Thread-safety: thread-compatible. Errors: none; what fits nowhere is left out.
// Cost: some 200 bytes a rank and iteration, 150 an op.
#ifndef FATHOM_COLLECTOR_IMPORT_FATHOM_WHOLE_JOB_H_
#define FATHOM_COLLECTOR_IMPORT_FATHOM_WHOLE_JOB_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "collector/job/summaries/iteration_aligner.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/watch/watch.h"

namespace fathom::v1 {
class RankRows;
class SummaryBatch;
}  // namespace fathom::v1

namespace fathom::collector {

class WholeJob {
 public:
  static constexpr std::size_t kMaxSummaries = 4'000'000;
  static constexpr std::size_t kMaxRows = 4'000'000;

  // Requires: the messages are valid (ingest/validate.h).
  void Add(const v1::SummaryBatch& batch);
  void Add(const v1::RankRows& rows);
  // Wall time less monotonic time on the node of the rank. The first one counts.
  void SetClock(RankId rank, std::int64_t mono_to_wall_ns);
  // The job began anew: what came before is another job's.
  void Clear();

  // The rows asked for, ops sorted by entry.
  std::map<RankId, diagnosis::RankRows> Rows(const diagnosis::RowsWanted& wanted) const;

  // Moves window and rows into the view. Requires: the view has its groups.
  void TakeInto(diagnosis::JobView& view);
  std::int64_t forgotten() const { return forgotten_; }  // iterations left out for the bounds

 private:
  struct Placed {
    std::optional<std::int64_t> offset;        // the job's iteration less the rank's own
    std::optional<std::int64_t> mono_to_wall;  // ns
  };
  using ByRank = std::map<RankId, diagnosis::RankRows>;

  std::int64_t JobIteration(RankId rank, std::int64_t own) const;
  void ForgetOldest();
  void ToWall(RankId rank, diagnosis::RankRows& rows) const;

  IterationAligner aligner_;
  std::map<RankId, Placed> ranks_;
  bool by_messages_ = false;  // ranks of which messages alone tell iterations
  std::map<std::int64_t, diagnosis::IterationSummary> window_;
  std::map<std::int64_t, ByRank> rows_;  // −1: of no iteration
  std::size_t summaries_ = 0;
  std::size_t ops_ = 0;
  std::int64_t forgotten_ = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_FATHOM_WHOLE_JOB_H_
