// Names of the tracer's drop reasons, as they appear in health messages and metric labels.
//
// Used by session/rank_messages and self_metrics. Thread-safety: pure. Errors: "other" for a reason
// of a newer tracer.
#ifndef FATHOM_DAEMON_AGENT_SESSION_DROP_REASON_NAME_H_
#define FATHOM_DAEMON_AGENT_SESSION_DROP_REASON_NAME_H_

#include <cstddef>
#include <iterator>

namespace fathom::agent {

constexpr const char* DropReasonName(std::size_t reason) {
  constexpr const char* kNames[] = {"reentrant",           "group_table_full", "member_arena_full",
                                    "symbol_missing",      "bad_setting",      "after_fork",
                                    "sequence_mismatch",   "internal",         "plugin_unmatched",
                                    "transfer_table_full", "graph_table_full"};
  return reason < std::size(kNames) ? kNames[reason] : "other";
}

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SESSION_DROP_REASON_NAME_H_
