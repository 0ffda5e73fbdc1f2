// What the agents of a simulated job tell a collector, as messages.
//
// Used by live_play and row_log; FleetNodes by fathom-fleet and its experiment.
//
// Model: an agent tells of its ranks and of their communicators at the start, of each iteration in
// a batch of one, of the state of its ranks in between. A row says not that its times are a
// device's: to the collector the job is one whose host and device run in step.
//
// Units: as the messages have them. `wall_shift` is added to wall times, so that the job is of
// today. Thread-safety: pure functions.
#ifndef FATHOM_COLLECTOR_FLEET_AGENT_MESSAGES_H_
#define FATHOM_COLLECTOR_FLEET_AGENT_MESSAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collector/simulate/scenario/scenario.h"
#include "diagnosis/model/job_view.h"
#include "fathom/v1/agent.pb.h"

namespace fathom::simulate {

// The names of the job's nodes.
std::vector<std::string> FleetNodes(const Scenario& scenario);

// Started at another moment it is another process: a job that is played again is a restart.
v1::RankInfo ToRankInfo(const std::string& job, const diagnosis::RankFacts& facts,
                        std::uint32_t local, std::uint32_t world, WallNs started);

// As the member at `place` tells it. Members are told by the first one only: they are the same for
// all, and the collector keeps them once.
v1::GroupInfo ToGroupInfo(const std::string& job, const diagnosis::Group& group, std::size_t place);

// Requires: the rank has communicators. The last of them holds the iteration's last op.
v1::SummaryBatch ToBatch(const std::string& job, const diagnosis::IterationSummary& iteration,
                         const diagnosis::RankIteration& rank, Nanos wall_shift);

// Adds the rank's next iteration to a batch of the one before; false where its communicators or
// the steps of its anchor differ, and nothing is added.
bool AddIteration(const diagnosis::RankIteration& rank, v1::SummaryBatch& batch);

// `cpu`: of its process so far, without that of a silence.
v1::RankHealth ToHealth(const std::string& job, const diagnosis::RankFacts& facts, Nanos cpu);

void AddOp(const diagnosis::CommOp& op, v1::RankRows& rows);
void AddMark(const diagnosis::Mark& mark, v1::RankRows& rows);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_FLEET_AGENT_MESSAGES_H_
