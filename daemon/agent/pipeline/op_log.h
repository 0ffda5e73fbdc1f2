// The recent ops and marks of one rank, oldest first, bounded by count and by age.
//
// Filled by op_joiner; read by rank_pipeline (summaries) and uplink (rows on request).
//
// Model: rows have a number that never changes (0, 1, 2 … since the process was first seen), so
// that others may remember a row without a pointer; a number below first() has been dropped. Rows
// stand in the order of their kOpEnter records.
//
// Thread-safety: single-threaded, owned by the poll loop.
// Errors: none; Find returns nullptr for what is no longer there.
// Cost: O(1) amortised; about 170 bytes a row, allocated as rows come.
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_OP_LOG_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_OP_LOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>

#include "daemon/agent/pipeline/iteration/op_row.h"

namespace fathom::agent {

struct OpLogLimits {
  std::size_t max_rows = 65'536;
  std::size_t max_marks = 8'192;
  std::int64_t max_age_ns = 600'000'000'000;
};

class OpLog {
 public:
  explicit OpLog(OpLogLimits limits) : limits_(limits) {}

  // Adds a row, drops the oldest where there are too many; returns the new row's number.
  std::uint64_t Add(const OpRow& row);
  void AddMark(const MarkRow& mark);

  // From now on at most so many rows.
  void LimitRows(std::size_t most) { limits_.max_rows = most; }

  // Drops what began before now − max_age, or − `at_least_ns` if that is longer.
  void DropOld(std::int64_t now_ns, std::int64_t at_least_ns = 0);

  OpRow* Find(std::uint64_t number);
  const OpRow* Find(std::uint64_t number) const;
  // Requires: first() <= number < next().
  const OpRow& At(std::uint64_t number) const { return rows_[number - first_]; }
  OpRow& At(std::uint64_t number) { return rows_[number - first_]; }

  // The first of these rows in which a thread may still be blocked; `end` if there is none. What
  // entered another op since is blocked no more, though no record said so.
  // Requires: first() <= begin <= end <= next(). Cost: O(rows from `begin` on), if it is not `end`.
  std::uint64_t FirstAwaited(std::uint64_t begin, std::uint64_t end) const;

  std::uint64_t first() const { return first_; }
  std::uint64_t next() const { return first_ + rows_.size(); }
  bool empty() const { return rows_.empty(); }

  std::deque<MarkRow>& marks() { return marks_; }
  const std::deque<MarkRow>& marks() const { return marks_; }

 private:
  OpLogLimits limits_;
  std::deque<OpRow> rows_;
  std::deque<MarkRow> marks_;
  std::uint64_t first_ = 0;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_OP_LOG_H_
