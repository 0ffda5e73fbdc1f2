// Turns what a session knows into the messages of fathom/v1 that are not rows.
//
// Used by agent; one function a message.
//
// Units as in the .proto files: µs in summaries, ns elsewhere. docs/formats/summary.md.
// Thread-safety: pure reads of the session, on the poll loop.
// Errors: none; values that do not fit saturate.
#ifndef FATHOM_DAEMON_AGENT_SESSION_RANK_MESSAGES_H_
#define FATHOM_DAEMON_AGENT_SESSION_RANK_MESSAGES_H_

#include <cstdint>
#include <string>

#include "daemon/agent/session/rank_session.h"
#include "daemon/agent/source/process/node_facts.h"
#include "daemon/agent/source/process/process_tree.h"
#include "daemon/agent/source/stack/stack_sampler.h"
#include "fathom/v1/agent.pb.h"

namespace fathom::agent {

v1::Hello HelloOf(const std::string& node, const char* version, const KernelRoots& roots);
v1::RankInfo RankInfoOf(const RankSession& session);
// Requires: the group in `slot` has an identity.
v1::GroupInfo GroupInfoOf(const RankSession& session, std::uint16_t slot);
v1::RankGone RankGoneOf(RankSession& session, std::int64_t now_ns, std::int64_t now_wall_ns);
// Requires: run.summaries is not empty.
v1::SummaryBatch SummaryBatchOf(const RankSession& session, const ClosedIterations& run,
                                std::int64_t mono_to_wall_ns);

// A silent rank (no record for max(2 s, 3 typical iterations)) also tells its open ops, its open
// mark and its progress; one beside a silent rank of its job its progress: which ops it has not
// entered while it goes on with others.
v1::RankHealth RankHealthOf(RankSession& session, const ProcessFacts& facts, std::int64_t now_ns,
                            bool beside_silent);
void AddDescendants(const DescendantUse& use, v1::RankHealth& health);
v1::RankWindow RankWindowOf(const RankSession& session, const WindowOutcome& outcome);
v1::StackSample StackSampleOf(const StackView& seen);
v1::NodeHealth NodeHealthOf(const NodeFacts& facts, const std::string& node,
                            std::int64_t now_wall_ns);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SESSION_RANK_MESSAGES_H_
