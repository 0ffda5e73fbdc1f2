// Rows of one job that agents sent on request, kept by rank and iteration of the job.
//
// Owned by JobState, two a job: of what diagnosis asked for, and of what only the page did. Filled
// from RowsReply, read for views, asked what is still missing. What an agent no longer has is
// remembered as missing, so it is not asked again. When the bound is reached ranks leave first that
// are no longer preferred, then iterations that are not, then the oldest of those after the onset
// or before it, of whichever there are more: else the baseline would leave, be asked for again look
// after look, and without it nobody can be judged.
//
// Units: iterations of the job (not the agent's own count). Thread-safety: thread-compatible.
// Cost: memory ≤ the bound × 150 bytes. Errors: none.
#ifndef FATHOM_COLLECTOR_JOB_ROWS_ROW_CACHE_H_
#define FATHOM_COLLECTOR_JOB_ROWS_ROW_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "diagnosis/model/job_view.h"

namespace fathom::collector {

class RowCache {
 public:
  explicit RowCache(std::size_t most) : most_(most) {}

  // Takes another bound; what is beyond it leaves.
  void Limit(std::size_t most);

  // Replaces what was known of (rank, iteration). Empty `rows`: the agent has none.
  void Put(RankId rank, std::int64_t iteration, diagnosis::RankRows rows);
  // Whose rows are wanted now, of which iterations; those from `onset` on are the slow ones. Until
  // it is said all are alike.
  void Prefer(const std::vector<RankId>& ranks, const std::vector<Iteration>& iterations,
              Iteration onset);
  // Null: nothing was put. Valid until the next Put or Clear.
  const diagnosis::RankRows* Find(RankId rank, std::int64_t iteration) const;
  bool Has(RankId rank, std::int64_t iteration) const { return Find(rank, iteration) != nullptr; }
  // Whether anything of this iteration is kept, of whatever rank.
  bool HasIteration(std::int64_t iteration) const { return by_iteration_.contains(iteration); }
  // The rows of the given ranks and iterations, ops sorted by enter, marks by begin. What is not
  // here is taken from `beside`; may be null.
  std::map<RankId, diagnosis::RankRows> Collect(const std::vector<RankId>& ranks,
                                                const std::vector<Iteration>& iterations,
                                                const RowCache* beside = nullptr) const;
  void Clear();  // what is preferred, too
  std::size_t rows() const { return rows_; }

 private:
  bool DropOthers(RankId newest);
  void MakeRoom(RankId newest, std::int64_t iteration);
  // The iteration to do without; `newest` only if there is no other.
  std::int64_t Dispensable(std::int64_t newest) const;
  void Drop(std::int64_t iteration);
  static std::size_t Size(const diagnosis::RankRows& rows) {
    return rows.ops.size() + rows.marks.size() + rows.functions.size() + 1;
  }

  std::map<std::int64_t, std::map<RankId, diagnosis::RankRows>> by_iteration_;
  std::set<RankId> preferred_;
  std::set<std::int64_t> wanted_;
  std::int64_t onset_ = -1;
  std::size_t most_;
  std::size_t rows_ = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_ROWS_ROW_CACHE_H_
