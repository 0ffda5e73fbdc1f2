#include "daemon/agent/ops/row_cursor.h"

#include <algorithm>

namespace fathom::agent {

RowSpan RowCursor::Due(const RankSession& session, std::uint64_t closed_end) const {
  const OpLog& log = session.pipeline().log();
  RowSpan span = UpTo(session, closed_end);
  span.last = log.FirstAwaited(span.first, span.last);
  const std::uint64_t held = log.next() - log.first();
  if (held > kRowsAtOnce * 2) span.last = std::max(span.last, log.next() - held / 2);
  return span;
}

RowSpan RowCursor::Rest(const RankSession& session) const {
  return UpTo(session, session.pipeline().log().next());
}

RowSpan RowCursor::UpTo(const RankSession& session, std::uint64_t end) const {
  const auto at = next_.find(session.name());
  const std::uint64_t next = at == next_.end() ? 0 : at->second;
  const std::uint64_t oldest = session.pipeline().log().first();
  RowSpan span{std::max(next, oldest), end, oldest > next ? oldest - next : 0};
  span.last = std::max(span.first, span.last);
  return span;
}

}  // namespace fathom::agent
