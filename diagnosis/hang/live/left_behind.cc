#include "diagnosis/hang/live/left_behind.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "absl/strings/str_format.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/watch/stall.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

using Counts = std::map<GroupId, std::map<RankId, std::uint64_t>>;

bool AllStandStill(const StuckJob& job) {
  const auto& ranks = job.c.view.ranks;
  if (ranks.size() != job.c.view.world_size) return false;
  return std::all_of(ranks.begin(), ranks.end(), [&](const RankFacts& facts) {
    return facts.agent_reachable && facts.open_ops.empty() && !facts.groups.empty() &&
           !IsDead(facts) && IsStalled(facts, job.longest_iteration, job.c.config);
  });
}

Counts CountsOf(const JobView& view) {
  Counts counts;
  for (const RankFacts& facts : view.ranks) {
    for (const GroupProgress& progress : facts.groups) {
      counts[progress.group][facts.rank] = progress.entered;
    }
  }
  return counts;
}

std::uint64_t MostOf(const std::map<RankId, std::uint64_t>& members) {
  std::uint64_t most = 0;
  for (const auto& [rank, entered] : members) most = std::max(most, entered);
  return most;
}

}  // namespace

std::optional<LeftBehind> FindLeftBehind(const StuckJob& job) {
  if (!AllStandStill(job)) return std::nullopt;
  const Counts counts = CountsOf(job.c.view);
  std::set<RankId> behind, ahead;  // of somebody, anywhere
  for (const auto& [group, members] : counts) {
    const std::uint64_t most = MostOf(members);
    std::uint64_t fewest = most;
    for (const auto& [rank, entered] : members) fewest = std::min(fewest, entered);
    for (const auto& [rank, entered] : members) {
      if (entered < most) behind.insert(rank);
      if (entered > fewest) ahead.insert(rank);
    }
  }
  std::vector<RankId> ends;
  std::set_difference(behind.begin(), behind.end(), ahead.begin(), ahead.end(),
                      std::back_inserter(ends));
  if (ends.size() != 1) return std::nullopt;
  LeftBehind found{ends.front(), {}, 0, 0, {ahead.begin(), ahead.end()}};
  for (const auto& [group, members] : counts) {
    const auto at = members.find(found.rank);
    const std::uint64_t most = MostOf(members);
    if (at == members.end() || most - at->second <= found.most - found.entered) continue;
    found.group = group;
    found.entered = at->second;
    found.most = most;
  }
  return found;
}

Verdict LeadOnLeftBehind(const StuckJob& job, const LeftBehind& behind) {
  const JobView& view = job.c.view;
  const RankFacts& facts = *FactsOf(view, behind.rank);
  Verdict verdict = BaseVerdict(job, Cause::kNonCommunicationHang, {behind.rank});
  verdict.grade = Grade::kHypothesis;
  verdict.victims = behind.ahead;
  verdict.since_time = view.now - facts.silent_for;
  verdict.sentence = absl::StrFormat(
      "%s has called %d ops of %s where others have called %d, and all ranks have stood still for "
      "%s: %s may wait for it.",
      RankName(view, behind.rank), behind.entered, GroupName(view, behind.group), behind.most,
      Duration(facts.silent_for.Seconds()), RanksInWords(behind.ahead));
  verdict.evidence.push_back({"Ops of the group that it has called, against the most of a member.",
                              static_cast<double>(behind.entered), "ops",
                              static_cast<double>(behind.most), "counts of entries"});
  verdict.counter_evidence.push_back(
      {"When ops end is not told here: it may have been kept from calling more by what the others "
       "wait for, too.",
       0, "", 0, "no profiler plugin"});
  verdict.would_change.push_back("NCCL's profiler plugin, which tells what is in flight.");
  AdviseOnRank(view, behind.rank, verdict);
  return verdict;
}

}  // namespace fathom::diagnosis
