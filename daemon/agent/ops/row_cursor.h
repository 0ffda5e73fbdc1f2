// How far the rows of each session's log have been taken: every row once, in order.
//
// Used by recorder (into a file) and by op_stream (to the collector), each with one of its own.
//
// Model: rows are taken up to and with the newest iteration that closed, because before that an op
// may lack its end and its iteration; and not beyond an op that a thread may still be blocked in,
// whose end comes before that of its wait. In a log without a period nothing closes: there the
// older half of what it holds is taken as it is, before it leaves the log.
//
// Units: numbers of rows, as the log has them. Thread-safety: single-threaded, the poll loop.
// Errors: rows that left the log before they were taken are counted. Cost: O(rows not taken yet).
#ifndef FATHOM_DAEMON_AGENT_OPS_ROW_CURSOR_H_
#define FATHOM_DAEMON_AGENT_OPS_ROW_CURSOR_H_

#include <cstdint>
#include <map>
#include <string>

#include "daemon/agent/session/rank_session.h"

namespace fathom::agent {

struct RowSpan {
  std::uint64_t first = 0, last = 0;  // last is not in it
  std::uint64_t missed = 0;           // left the log before
};

class RowCursor {
 public:
  // A span of rows as large as one message should hold.
  static constexpr std::uint64_t kRowsAtOnce = 4096;

  // What may be taken now. `closed_end`: the row behind the newest iteration that closed; 0: none
  // did since the last call.
  RowSpan Due(const RankSession& session, std::uint64_t closed_end) const;
  // All that is left.
  RowSpan Rest(const RankSession& session) const;
  void MoveTo(const RankSession& session, std::uint64_t next) { next_[session.name()] = next; }
  // Whether rows of it were taken, or left, before.
  bool Knows(const RankSession& session) const { return next_.contains(session.name()); }
  void Forget(const RankSession& session) { next_.erase(session.name()); }

 private:
  RowSpan UpTo(const RankSession& session, std::uint64_t end) const;

  std::map<std::string, std::uint64_t> next_;  // by name of the session
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_OPS_ROW_CURSOR_H_
