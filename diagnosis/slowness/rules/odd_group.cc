#include "diagnosis/slowness/rules/odd_group.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "diagnosis/evidence/cost.h"
#include "diagnosis/graph/group_families.h"
#include "diagnosis/ledger/odd_place.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

struct Compared {
  std::map<GroupId, OddGroup> odd;  // of several families the one that tells most
  std::vector<const Group*> well;
  bool node_missing = false;
};

bool ShowsAlways(const FamilyMember& member, const std::vector<double>& usual,
                 const DiagnosisConfig& config) {
  std::size_t shows = 0;
  for (std::size_t i = 0; i < usual.size(); ++i) {
    shows += member.seconds[i] >= config.odd_group_ratio * usual[i] ? 1 : 0;
  }
  return static_cast<double>(shows) >= config.guilty_share * static_cast<double>(usual.size());
}

// Fastest first, by median.
std::vector<std::pair<double, const FamilyMember*>> ByTime(const GroupFamily& family) {
  std::vector<std::pair<double, const FamilyMember*>> sorted;
  for (const FamilyMember& member : family.members) {
    sorted.emplace_back(Median(member.seconds), &member);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return sorted;
}

// How many are well: those below the first gap of ratio times above the lower median.
std::size_t WellOf(const std::vector<std::pair<double, const FamilyMember*>>& sorted,
                   double ratio) {
  std::size_t well = (sorted.size() - 1) / 2 + 1;
  while (well < sorted.size() &&
         (sorted[well - 1].first <= 0 || sorted[well].first < ratio * sorted[well - 1].first)) {
    ++well;
  }
  return well;
}

// The least that any member was blocked in communication; null where one did not report.
std::optional<double> LeastBlocked(const IterationSummary& it, const Group& group) {
  double least = it.ranks.empty() ? 0 : it.ranks.front().duration.Seconds();
  for (const RankId rank : group.members) {
    const RankIteration* row = RankIn(it, rank);
    if (row == nullptr) return std::nullopt;
    least = std::min({least, row->blocked.Seconds(), row->duration.Seconds()});
  }
  return least;
}

// What it takes beyond the usual, as far as no work hid it.
double Lost(const JobView& view, const GroupFamily& family, const FamilyMember& member) {
  std::vector<double> lost;
  for (const IterationSummary& it : view.window) {
    const auto at = std::lower_bound(family.iterations.begin(), family.iterations.end(), it.index);
    if (at == family.iterations.end() || *at != it.index) continue;
    const auto i = static_cast<std::size_t>(at - family.iterations.begin());
    const auto blocked = LeastBlocked(it, *member.group);
    if (blocked) lost.push_back(std::min(member.seconds[i] - family.usual[i], *blocked));
  }
  return Median(std::move(lost));
}

// `worth`: what an iteration must lose at least.
bool WorthTelling(const Case& c, double worth, const OddGroup& odd) {
  return odd.lost >= worth && odd.lost >= c.config.explained_share * (odd.mine - odd.usual);
}

void Compare(const Case& c, const GroupFamily& family, double worth, Compared& out) {
  const double ratio = c.config.odd_group_ratio;
  const auto sorted = ByTime(family);
  const std::size_t well = WellOf(sorted, ratio);
  for (std::size_t i = 0; i < well; ++i) out.well.push_back(sorted[i].second->group);
  for (std::size_t i = well; i < sorted.size(); ++i) {
    const FamilyMember& member = *sorted[i].second;
    if (!ShowsAlways(member, family.usual, c.config)) continue;
    OddGroup odd{member.group,
                 sorted[i].first,
                 Median(family.usual),
                 sorted[well - 1].first,
                 Lost(c.view, family, member),
                 well,
                 false,
                 family.iterations.size()};
    odd.sure =
        well >= static_cast<std::size_t>(c.config.odd_group_siblings) && 2 * well > sorted.size();
    if (!WorthTelling(c, worth, odd)) continue;
    out.node_missing = out.node_missing || (odd.sure && !family.nodes_known);
    if (!family.nodes_known) continue;
    const auto [known, fresh] = out.odd.try_emplace(member.group->id, odd);
    if (!fresh &&
        std::pair(odd.sure, odd.lost) > std::pair(known->second.sure, known->second.lost)) {
      known->second = odd;
    }
  }
}

void Describe(const Case& c, const OddPlace& place, Verdict& verdict) {
  const OddGroup& told = *place.told;
  verdict.problem = ClassOf(verdict.cause);
  verdict.owner = OwnerOf(verdict.cause);
  verdict.since_iteration = c.view.window.front().index;
  verdict.since_time = c.view.window.front().begin;
  verdict.cost = CostOfWindow(c.view, told.lost);
  verdict.sentence = absl::StrFormat(
      "Communication %s took %.1f times as long as in %d communicators like it, all through the %d "
      "recorded iterations and with all ranks there: %s in each for what takes them %s. No time "
      "before is recorded, so this may be how these ranks are wired.",
      place.where, told.mine / told.usual, told.siblings, told.iterations, Duration(told.mine),
      Duration(told.usual));
  verdict.evidence.push_back(
      {"Transfers of an iteration, from the arrival of the last member, against the slowest of "
       "those like it that are well.",
       told.mine, "s", told.next, "odd_group"});
  verdict.would_change.push_back(
      "A recording in which it takes no longer than those like it: compare with it (--against).");
  verdict.would_change.push_back(
      "Paths that are longer by design, such as through another switch.");
  verdict.action_text = "Look at the paths between these ranks: errors, speed, width, load.";
  verdict.action_command = "ss -ti; ip -s link";
}

std::optional<Verdict> LeadOn(const Case& c, const std::vector<OddGroup>& odd,
                              const std::vector<const Group*>& well) {
  const std::optional<OddPlace> place = PlaceOfOdd(c.view, odd, well, c.topology);
  if (!place) return std::nullopt;
  Verdict verdict;
  verdict.grade = Grade::kHypothesis;
  verdict.cause = place->cause;
  verdict.entity = place->entity;
  verdict.victims = place->victims;
  Describe(c, *place, verdict);
  return verdict;
}

void Examine(const Case& c, Findings& out) {
  if (c.config.odd_group_iterations <= 0) return;
  Compared compared;
  const auto least = static_cast<std::size_t>(c.config.odd_group_iterations);
  const double worth =
      std::max(c.graph.wait_floor(), (c.config.delta - 1) * MedianDuration(c.view));
  for (const GroupFamily& family : FamiliesOf(c.view, c.graph.instances(), least)) {
    Compare(c, family, worth, compared);
  }
  if (compared.node_missing) {
    out.abstained.push_back({"whether a communicator is slow against those like it",
                             "the nodes of its ranks: one that crosses nodes is slower"});
  }
  std::erase_if(compared.well, [&](const Group* g) { return compared.odd.contains(g->id); });
  std::vector<OddGroup> all, sure;
  for (const auto& [id, odd] : compared.odd) {
    all.push_back(odd);
    if (odd.sure) sure.push_back(odd);
  }
  if (sure.empty()) return;
  std::optional<Verdict> lead = LeadOn(c, all, compared.well);
  if (!lead) lead = LeadOn(c, sure, compared.well);
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
