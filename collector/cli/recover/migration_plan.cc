#include "collector/cli/recover/migration_plan.h"

#include <algorithm>
#include <set>

#include "collector/cli/render/quantity.h"
#include "collector/cli/render/verdict_view.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

using Ranks = std::set<std::int64_t>;

constexpr const char* kRoles[] = {"first", "middle", "last"};

Ranks MoversOf(const JobLayout& layout, const std::string& node) {
  Ranks movers;
  for (const auto& [rank, at] : layout.node_of) {
    if (at == node) movers.insert(rank);
  }
  return movers;
}

// Those before and after a mover, round the end, that are no movers.
Ranks NextToMovers(const std::vector<std::int64_t>& ring, const Ranks& movers) {
  Ranks next;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    if (!movers.contains(ring[i])) continue;
    for (const std::size_t at : {(i + ring.size() - 1) % ring.size(), (i + 1) % ring.size()}) {
      if (!movers.contains(ring[at])) next.insert(ring[at]);
    }
  }
  return next;
}

void Sort(const JobLayout& layout, const Ranks& movers, MigrationPlan& plan) {
  Ranks stayers, next_to_movers;
  std::size_t unknown = 0;
  for (const Communicator& comm : layout.communicators) {
    const auto moves = [&](std::int64_t rank) { return movers.contains(rank); };
    const auto count = std::count_if(comm.ranks.begin(), comm.ranks.end(), moves);
    const auto moving = static_cast<std::size_t>(count);
    if (comm.ranks.empty()) ++unknown;
    if (moving == 0) plan.untouched += comm.ranks.empty() ? 0 : 1;
    if (moving > 0 && moving == comm.ranks.size()) ++plan.moved_whole;
    if (moving == 0 || moving == comm.ranks.size()) continue;
    const Ranks next = NextToMovers(comm.ranks, movers);
    plan.changed.push_back(
        {comm.name, comm.kind, comm.ranks.size(), moving, {next.begin(), next.end()}});
    next_to_movers.insert(next.begin(), next.end());
    std::copy_if(comm.ranks.begin(), comm.ranks.end(), std::inserter(stayers, stayers.end()),
                 [&](std::int64_t rank) { return !moves(rank); });
  }
  plan.stayers.assign(stayers.begin(), stayers.end());
  plan.next_to_movers.assign(next_to_movers.begin(), next_to_movers.end());
  if (unknown > 0) {
    plan.missing.push_back(
        Cat("the members of ", Counted(unknown, "communicator"), ": they may change too"));
  }
}

std::size_t PlaceIn(const Communicator& comm, std::int64_t rank) {
  const auto at = std::find(comm.ranks.begin(), comm.ranks.end(), rank);
  return static_cast<std::size_t>(at - comm.ranks.begin());
}

// The longest pipeline counts: others hold the first and last stage alone, for shared embeddings.
void FindRole(const JobLayout& layout, Mover& mover) {
  bool unread = false;
  for (const Communicator& comm : layout.communicators) {
    const std::size_t place = PlaceIn(comm, mover.rank);
    if (place == comm.ranks.size()) continue;
    unread = unread || comm.kind == "unknown";
    if (comm.kind == "pipeline" && comm.ranks.size() > std::max<std::size_t>(1, mover.stages)) {
      mover.stage = place;
      mover.stages = comm.ranks.size();
    }
  }
  if (mover.stages == 0) {
    mover.role = unread ? "unknown" : "only";
  } else {
    mover.role = kRoles[mover.stage == 0 ? 0 : mover.stage + 1 < mover.stages ? 1 : 2];
  }
}

// A job all of whose communicators are of its whole world is data-parallel.
void FindReplica(const JobLayout& layout, const Ranks& movers, Mover& mover) {
  const auto is_world = [](const Communicator& comm) { return comm.kind == "world"; };
  const bool world_alone =
      std::all_of(layout.communicators.begin(), layout.communicators.end(), is_world);
  for (const Communicator& comm : layout.communicators) {
    if (comm.kind != "data" && !world_alone) continue;
    if (PlaceIn(comm, mover.rank) == comm.ranks.size()) continue;
    const auto stays = [&](std::int64_t rank) { return !movers.contains(rank); };
    const auto replica = std::find_if(comm.ranks.begin(), comm.ranks.end(), stays);
    if (replica == comm.ranks.end()) continue;
    mover.replica = *replica;
    return;
  }
}

std::vector<std::int64_t> OneOfEachRole(const MigrationPlan& plan) {
  std::map<std::string, std::int64_t> first;
  for (const Mover& mover : plan.movers) first.try_emplace(mover.role, mover.rank);
  std::vector<std::int64_t> ranks;
  for (const auto& [role, rank] : first) ranks.push_back(rank);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

void WriteSteps(MigrationPlan& plan) {
  const std::string to = plan.to.empty() ? "the spare" : plan.to;
  plan.prepare = {
      Cat("start standbys for ", Counted(plan.movers.size(), "rank"), " on ", to),
      Cat("each loads the newest whole checkpoint, so that code, memory and files are there"),
      Cat("each runs a shadow iteration (docs/operations/shadow.md); records of ",
          RankNames(OneOfEachRole(plan)), " hold every role that moves")};
  if (!plan.to.empty()) plan.prepare.push_back(Cat("probe it: fathom probe --nodes ", to));
  plan.change_over = {
      "all ranks pause at the same iteration's border",
      Cat("make ", Counted(plan.changed.size(), "communicator"), " anew, in which ",
          Counted(plan.stayers.size(), "rank"), " take part that stay"),
      Cat("make ", Counted(plan.moved_whole, "communicator"), " anew on ", to, " alone"),
      "weights, optimizer and the place in the data go from each rank that leaves to the one "
      "that joins; if it is lost, from its replica where the parameters are whole there, else "
      "from the checkpoint, and then all go back to it",
      Cat("go on; ", plan.from, " is free")};
}

void TellWhatIsMissing(MigrationPlan& plan) {
  const auto none = [&](auto&& is) {
    return std::none_of(plan.movers.begin(), plan.movers.end(), is);
  };
  if (!none([](const Mover& mover) { return mover.role == "unknown"; })) {
    plan.missing.push_back(
        "the roles: no communicator says that it is a pipeline, and of some it is not known what "
        "they are for");
  }
  if (none([](const Mover& mover) { return mover.replica.has_value(); })) {
    plan.missing.push_back(
        "a replica of the ranks that move: no data-parallel communicator is known");
  }
  if (plan.to.empty()) plan.missing.push_back("a spare to move to");
  plan.missing.push_back(
      "who does the switch: the framework must exchange members of running communicators; "
      "fathom recover run restarts the job instead");
}

}  // namespace

JobLayout LayoutOf(const Json& job) {
  JobLayout layout;
  layout.job = TextField(job, "name");
  for (const Json& rank : ListField(job, "rank_info")) {
    layout.node_of[IntField(rank, "rank")] = TextField(rank, "node");
  }
  for (const Json& group : ListField(job, "groups")) {
    Communicator comm{TextField(group, "name"), TextField(group, "kind"), {}};
    for (const Json& rank : ListField(group, "ranks")) {
      if (rank.is_number_integer()) comm.ranks.push_back(rank.get<std::int64_t>());
    }
    layout.communicators.push_back(std::move(comm));
  }
  return layout;
}

MigrationPlan PlanMigration(const JobLayout& layout, const std::string& from,
                            const std::string& to) {
  MigrationPlan plan;
  plan.job = layout.job;
  plan.from = from;
  plan.to = to;
  plan.ranks = layout.node_of.size();
  const Ranks movers = MoversOf(layout, from);
  if (movers.empty()) {
    plan.missing.push_back(from.empty() ? std::string("the node to move off (--node)")
                                        : Cat("ranks on ", from, ": the job has none there"));
    return plan;
  }
  Sort(layout, movers, plan);
  for (const std::int64_t rank : movers) {
    Mover mover;
    mover.rank = rank;
    FindRole(layout, mover);
    FindReplica(layout, movers, mover);
    plan.movers.push_back(std::move(mover));
  }
  WriteSteps(plan);
  TellWhatIsMissing(plan);
  return plan;
}

}  // namespace fathom::cli
