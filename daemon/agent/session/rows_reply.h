// Answers a request for rows from the op logs of the ranks asked for.
//
// Used by agent for each fathom.v1.RowsRequest of the collector, and by recorder.
//
// Model: of each rank the ops of the iterations asked for, or those in flight, ordered by entry,
// with global peers and the CPU and run-queue time of the caller filled in where they are known.
// The reply as a whole stays below the message limit: each rank gets an equal part of it.
// Iterations that do not fit are left out whole, and the reply is marked `truncated`; one that is
// asked for alone is cut at the end instead.
//
// Thread-safety: pure reads, on the poll loop. Errors: RowsReply.error where nobody is known.
// Cost: O(rows of the iterations), plus a scan of the log for in-flight requests.
#ifndef FATHOM_DAEMON_AGENT_SESSION_ROWS_REPLY_H_
#define FATHOM_DAEMON_AGENT_SESSION_ROWS_REPLY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "daemon/agent/session/rank_session.h"
#include "fathom/v1/agent.pb.h"

namespace fathom::agent {

// `sessions` are those of the job's ranks asked for, one a rank.
v1::RowsReply AnswerRows(const v1::RowsRequest& request, std::span<RankSession* const> sessions,
                         std::size_t max_bytes);

// The ops [first, last) of the session's log and the marks that touch them, unasked.
// Requires: both lie in the log.
v1::RowsReply RowsBetween(RankSession& session, std::uint64_t first, std::uint64_t last);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SESSION_ROWS_REPLY_H_
