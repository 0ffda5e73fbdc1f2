// What it takes to move ranks of a running job to another node: which communicators change, what
// role the ranks have in their pipelines, and the steps of preparing and of switching.
//
// Made by `fathom recover plan --migrate` of what the collector tells of a job. It changes nothing,
// and nothing does the switch yet (docs/operations/recover.md).
//
// Model: the ranks of one node move together, each communicator is one of
//
//   changed      movers and stayers are in it: all its members must make it anew
//   moved whole  movers alone are in it: they make it anew on their new node
//   untouched    no mover is in it
//
// A communicator's members stand in its own order; next to a mover are those before and after it,
// round the end: who would connect anew if a library could exchange a member of a ring. In a
// communicator of kind "pipeline" the place is the stage; a rank's role is first, middle or last of
// it, and "only" where the job has no pipeline. Ranks of one role do the same work, so that one
// shadow iteration for each role warms a standby for any rank of it. A replica is a stayer in a
// communicator of kind "data" in which the mover is, or of the world where a job has no other.
//
// Thread-safety: pure functions. Errors: none; what is not known makes an entry of `missing`.
// Cost: O(movers × members of all communicators).
// Source: TrainMover (OSDI '26), two phases, general standby; joining ranks of one node is ours.
#ifndef FATHOM_COLLECTOR_CLI_RECOVER_MIGRATION_PLAN_H_
#define FATHOM_COLLECTOR_CLI_RECOVER_MIGRATION_PLAN_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

struct Communicator {
  std::string name, kind;
  std::vector<std::int64_t> ranks;  // in its own order; empty: not known
};

struct JobLayout {
  std::string job;
  std::vector<Communicator> communicators = {};
  std::map<std::int64_t, std::string> node_of = {};  // by rank
};

// Of /api/v1/jobs/JOB.
JobLayout LayoutOf(const Json& job);

struct Mover {
  std::int64_t rank = 0;
  std::string role;                   // "first", "middle", "last", "only", "unknown"
  std::size_t stage = 0, stages = 0;  // from 0; 0 stages: no pipeline is known
  std::optional<std::int64_t> replica;
};

struct ChangedCommunicator {
  std::string name, kind;
  std::size_t members = 0, movers = 0;
  std::vector<std::int64_t> next_to_movers;  // stayers, ascending
};

struct MigrationPlan {
  std::string job, from, to;  // nodes; empty `to`: there is no spare
  std::size_t ranks = 0;      // of the job
  std::vector<Mover> movers;
  std::vector<ChangedCommunicator> changed;
  std::size_t moved_whole = 0, untouched = 0;
  std::vector<std::int64_t> stayers;              // members of a changed communicator, ascending
  std::vector<std::int64_t> next_to_movers;       // of them, in any communicator
  std::vector<std::string> prepare, change_over;  // steps
  std::vector<std::string> missing;
};

MigrationPlan PlanMigration(const JobLayout& layout, const std::string& from,
                            const std::string& to);

// As text, and as JSON.
std::string MigrationText(const MigrationPlan& plan);
Json MigrationJson(const MigrationPlan& plan);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RECOVER_MIGRATION_PLAN_H_
