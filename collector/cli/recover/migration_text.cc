#include <map>

#include "collector/cli/recover/migration_plan.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/render/verdict_view.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

struct KindSum {
  std::size_t count = 0, members = 0, movers = 0;
};

std::string RolesText(const MigrationPlan& plan) {
  std::map<std::string, std::vector<std::int64_t>> by_role;
  for (const Mover& mover : plan.movers) {
    const std::string of =
        mover.stages == 0 ? "" : Cat(" (stage ", mover.stage, " of ", mover.stages, ")");
    by_role[mover.role + of].push_back(mover.rank);
  }
  std::string out;
  for (const auto& [role, ranks] : by_role) {
    AppendTo(&out, out.empty() ? "" : "; ", role, ": ", RankList(ranks));
  }
  return out;
}

void AppendChanged(const MigrationPlan& plan, std::string* out) {
  std::map<std::string, KindSum> kinds;
  for (const ChangedCommunicator& comm : plan.changed) {
    KindSum& sum = kinds[comm.kind];
    ++sum.count;
    sum.members += comm.members;
    sum.movers += comm.movers;
  }
  const std::size_t all = plan.changed.size() + plan.moved_whole + plan.untouched;
  AppendTo(out, "changed     ", plan.changed.size(), " of ", Counted(all, "communicator"), "\n");
  for (const auto& [kind, sum] : kinds) {
    AppendTo(out, "  - ", sum.count, " of kind ", Printable(kind), ": ", sum.movers,
             " members move, ", sum.members - sum.movers, " stay\n");
  }
  AppendTo(out, "moved whole ", plan.moved_whole, ", untouched ", plan.untouched, "\n");
}

void AppendSteps(std::string* out, const char* heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  AppendTo(out, heading, "\n");
  for (const std::string& line : lines) AppendTo(out, "  - ", Printable(line), "\n");
}

std::string ReplicasText(const MigrationPlan& plan) {
  std::vector<std::int64_t> replicas;
  for (const Mover& mover : plan.movers) {
    if (mover.replica) replicas.push_back(*mover.replica);
  }
  return replicas.empty() ? "none known" : RankList(replicas);
}

Json StepList(const std::vector<std::string>& lines) {
  Json list = Json::array();
  for (const std::string& line : lines) list.push_back(Printable(line));
  return list;
}

}  // namespace

std::string MigrationText(const MigrationPlan& plan) {
  std::string out = Cat("migration of ", plan.job, "\n");
  if (!plan.movers.empty()) {
    std::vector<std::int64_t> ranks;
    for (const Mover& mover : plan.movers) ranks.push_back(mover.rank);
    AppendTo(&out, "moves       ", RankNames(ranks), ", from ", plan.from, " to ",
             plan.to.empty() ? "a spare that is not there" : plan.to, "\n");
    AppendTo(&out, "roles       ", RolesText(plan), "\n");
    AppendTo(&out, "replicas    ", ReplicasText(plan), "\n");
    AppendChanged(plan, &out);
    AppendTo(&out, "take part   ", plan.stayers.size(), " of ", plan.ranks - plan.movers.size(),
             " ranks that stay; ", plan.next_to_movers.size(), " stand next to one that moves\n");
  }
  AppendSteps(&out, "prepare, while the job runs", plan.prepare);
  AppendSteps(&out, "switch, while it pauses", plan.change_over);
  AppendSteps(&out, "not known or not there", plan.missing);
  return out;
}

Json MigrationJson(const MigrationPlan& plan) {
  Json json = {{"job", plan.job},
               {"from", plan.from},
               {"to", plan.to},
               {"ranks", plan.ranks},
               {"movers", Json::array()},
               {"changed", Json::array()},
               {"moved_whole", plan.moved_whole},
               {"untouched", plan.untouched},
               {"stayers", plan.stayers},
               {"next_to_movers", plan.next_to_movers},
               {"prepare", StepList(plan.prepare)},
               {"switch", StepList(plan.change_over)},
               {"missing", StepList(plan.missing)}};
  for (const Mover& mover : plan.movers) {
    Json told = {{"rank", mover.rank}, {"role", mover.role}};
    if (mover.stages > 0) told.update({{"stage", mover.stage}, {"stages", mover.stages}});
    if (mover.replica) told["replica"] = *mover.replica;
    json["movers"].push_back(std::move(told));
  }
  for (const ChangedCommunicator& comm : plan.changed) {
    json["changed"].push_back({{"name", Printable(comm.name)},
                               {"kind", Printable(comm.kind)},
                               {"members", comm.members},
                               {"movers", comm.movers},
                               {"next_to_movers", comm.next_to_movers}});
  }
  return json;
}

}  // namespace fathom::cli
