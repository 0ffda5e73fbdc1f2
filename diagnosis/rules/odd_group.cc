#include "diagnosis/rules/odd_group.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/evidence/cost.h"
#include "diagnosis/evidence/phrase.h"
#include "diagnosis/evidence/shared_device.h"
#include "diagnosis/graph/group_families.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

struct OddGroup {
  const Group* group = nullptr;
  double mine = 0;             // seconds an iteration
  double usual = 0;            // of its siblings
  double next = 0;             // of the slowest of those that are well
  std::size_t siblings = 0;    // that are well
  std::set<std::string> well;  // nodes of those
  std::size_t iterations = 0;
};

bool ShowsAlways(const FamilyMember& member, double ratio) {
  std::size_t shows = 0;
  for (std::size_t i = 0; i < member.mine.size(); ++i) {
    shows += member.mine[i] >= ratio * member.usual[i] ? 1 : 0;
  }
  return static_cast<double>(shows) >= kShowsIfGuilty * static_cast<double>(member.mine.size());
}

// The slow end of a family that was compared often enough, fastest first.
std::vector<const FamilyMember*> ByTime(const GroupFamily& family, std::size_t least) {
  std::vector<const FamilyMember*> sorted;
  for (const FamilyMember& member : family.members) {
    if (member.mine.size() >= least) sorted.push_back(&member);
  }
  std::sort(sorted.begin(), sorted.end(), [](const FamilyMember* a, const FamilyMember* b) {
    return Median(a->mine) < Median(b->mine);
  });
  return sorted;
}

std::set<std::string> NodesOf(const JobView& view, const Group& group) {
  std::set<std::string> nodes;
  for (const RankId rank : group.members) nodes.insert(NodeOf(view, rank));
  return nodes;
}

// Those above the first gap of ratio times, if they are fewer than those below it.
std::vector<OddGroup> OddOf(const Case& c, const GroupFamily& family) {
  const double ratio = c.config.odd_group_ratio;
  const auto sorted = ByTime(family, static_cast<std::size_t>(c.config.odd_group_iterations));
  std::size_t well = 1;
  while (well < sorted.size() &&
         Median(sorted[well]->mine) < ratio * Median(sorted[well - 1]->mine)) {
    ++well;
  }
  std::vector<OddGroup> odd;
  if (well >= sorted.size() || 2 * well < sorted.size()) return odd;
  std::set<std::string> nodes;
  for (std::size_t i = 0; i < well; ++i) nodes.merge(NodesOf(c.view, *sorted[i]->group));
  for (std::size_t i = well; i < sorted.size(); ++i) {
    if (!ShowsAlways(*sorted[i], ratio)) return {};
    odd.push_back({sorted[i]->group, Median(sorted[i]->mine), Median(sorted[i]->usual),
                   Median(sorted[well - 1]->mine), well, nodes, sorted[i]->mine.size()});
  }
  return odd;
}

double Beyond(const OddGroup& odd) { return odd.mine - odd.usual; }

// The only node that all odd groups have and none of their siblings that are well.
std::string NodeInCommon(const Case& c, const std::vector<OddGroup>& odd) {
  std::set<std::string> common = NodesOf(c.view, *odd.front().group);
  for (const OddGroup& each : odd) {
    const auto nodes = NodesOf(c.view, *each.group);
    std::erase_if(common, [&](const std::string& node) {
      return !nodes.contains(node) || each.well.contains(node);
    });
  }
  return common.size() == 1 ? *common.begin() : std::string();
}

// What odd groups have in common; false where that cannot be told.
bool NameWhere(const Case& c, const std::vector<OddGroup>& odd, Verdict& verdict,
               std::string& where) {
  verdict.cause = Cause::kCommunicationSlow;
  verdict.entity.type = EntityType::kGroup;
  verdict.entity.ranks = odd.front().group->members;
  where = absl::StrCat("of ", GroupName(c.view, odd.front().group->id), ", ",
                       RanksInWords(verdict.entity.ranks), ",");
  if (odd.size() == 1) return true;
  std::set<GroupId> ids;
  for (const OddGroup& each : odd) ids.insert(each.group->id);
  const SharedDevice shared = SharedBy(c.view, ids);
  verdict.entity.ranks = shared.ranks;
  if (shared.rank != kNoRank) {
    verdict.cause = Cause::kLinkSlow;
    verdict.entity.type = EntityType::kNic;
    verdict.entity.ranks = {shared.rank};
    verdict.entity.node = NodeOf(c.view, shared.rank);
    where = absl::StrFormat("in %d communicators that have only %s in common", odd.size(),
                            RanksInWords(verdict.entity.ranks));
    return true;
  }
  verdict.entity.node = NodeInCommon(c, odd);
  where = absl::StrFormat("in %d communicators that have only node %s in common", odd.size(),
                          verdict.entity.node);
  return !verdict.entity.node.empty();
}

void Describe(const Case& c, const OddGroup& worst, const std::string& where, Verdict& verdict) {
  verdict.problem = ClassOf(verdict.cause);
  verdict.owner = OwnerOf(verdict.cause);
  verdict.since_iteration = c.view.window.front().index;
  verdict.since_time = c.view.window.front().begin;
  const double duration = MedianDuration(c.view);
  const double beyond = std::min(Beyond(worst), duration / 2);
  verdict.cost = CostOfSteps(c.view, c.view.window.size(), duration, duration - beyond);
  verdict.sentence = absl::StrFormat(
      "Communication %s took %.1f times as long as in %d communicators like it, all through the %d "
      "recorded iterations and with all ranks there: %s in each for what takes them %s. No time "
      "before is recorded, so this may be how these ranks are wired.",
      where, worst.mine / worst.usual, worst.siblings, worst.iterations, Duration(worst.mine),
      Duration(worst.usual));
  verdict.evidence.push_back(
      {"Transfers of an iteration, from the arrival of the last member, against the slowest of "
       "those like it that are well.",
       worst.mine, "s", worst.next, "odd_group"});
  verdict.would_change.push_back(
      "A recording in which it takes no longer than those like it: compare with it (--against).");
  verdict.would_change.push_back(
      "Paths that are longer by design, such as through another switch.");
  verdict.action_text = "Look at the paths between these ranks: errors, speed, width, load.";
  verdict.action_command = "ss -ti; ip -s link";
}

std::optional<Verdict> LeadOn(const Case& c, const std::vector<OddGroup>& odd) {
  Verdict verdict;
  verdict.grade = Grade::kHypothesis;
  std::string where;
  if (!NameWhere(c, odd, verdict, where)) return std::nullopt;
  // What it is compared with: most siblings first.
  const auto worst =
      std::max_element(odd.begin(), odd.end(), [](const OddGroup& a, const OddGroup& b) {
        return a.siblings != b.siblings ? a.siblings < b.siblings : Beyond(a) < Beyond(b);
      });
  Describe(c, *worst, where, verdict);
  return verdict;
}

bool WorthTelling(const Case& c, const OddGroup& odd) {
  const double least =
      std::max(c.graph.wait_floor(), (c.config.delta - 1) * MedianDuration(c.view));
  return Beyond(odd) >= least;
}

void Examine(const Case& c, Findings& out) {
  if (c.config.odd_group_iterations <= 0) return;
  std::vector<OddGroup> odd, of_pairs;
  bool node_missing = false;
  for (const GroupFamily& family : FamiliesOf(c.view, c.graph.instances())) {
    for (OddGroup& each : OddOf(c, family)) {
      if (!WorthTelling(c, each)) continue;
      const bool sure = each.siblings >= static_cast<std::size_t>(c.config.odd_group_siblings);
      node_missing = node_missing || (sure && !family.nodes_known);
      if (family.nodes_known) (sure ? odd : of_pairs).push_back(std::move(each));
    }
  }
  if (node_missing) {
    out.abstained.push_back({"whether a communicator is slow against those like it",
                             "the nodes of its ranks: one that crosses nodes is slower"});
  }
  if (odd.empty()) return;
  std::vector<OddGroup> both = odd;
  both.insert(both.end(), of_pairs.begin(), of_pairs.end());
  std::optional<Verdict> lead = LeadOn(c, both);
  if (!lead) lead = LeadOn(c, odd);
  if (lead) out.verdicts.push_back(*std::move(lead));
}

}  // namespace

Rule OddGroupRule() {
  return {"odd_group",
          {},
          "whether a communicator is slow against those like it",
          [](const Suspicion& s) { return !s.slow && !s.stalled; },
          Examine};
}

}  // namespace fathom::diagnosis
