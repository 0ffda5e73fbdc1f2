#include "diagnosis/hang/order/crossed_ops.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/wording/command.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

using Foremost = std::map<GroupId, const StuckInstance*>;

Foremost OldestOfEachGroup(const WaitFor& graph) {
  Foremost foremost;
  for (const StuckInstance& stuck : graph.instances) {
    if (!stuck.held_by.empty() || !stuck.unknown.empty() || stuck.inside.size() < 2) continue;
    const auto [at, first] = foremost.emplace(stuck.group, &stuck);
    if (!first && stuck.sequence < at->second->sequence) at->second = &stuck;
  }
  return foremost;
}

// Ranks that entered `first` before `then`, and have not begun that.
std::vector<RankId> WhoEntered(const StuckInstance& first, const StuckInstance& then) {
  std::vector<RankId> ranks;
  for (const auto& [rank, op] : then.inside) {
    const auto before = first.inside.find(rank);
    if (before == first.inside.end() || op.started) continue;
    if (before->second.age > op.age) ranks.push_back(rank);
  }
  return ranks;
}

std::string OpInWords(const JobView& view, const StuckInstance& stuck) {
  return absl::StrFormat("%s %d of %s",
                         std::string(CollectiveKindName(stuck.inside.begin()->second.kind)),
                         stuck.sequence.value, GroupName(view, stuck.group));
}

std::string Side(const JobView& view, const std::vector<RankId>& ranks, const StuckInstance& first,
                 const StuckInstance& then) {
  return absl::StrFormat("%s entered %s before %s", RanksAtStart(ranks), OpInWords(view, first),
                         OpInWords(view, then));
}

void Describe(const StuckJob& job, const CrossedOps& crossed, const Orders& orders,
              Verdict& verdict) {
  const JobView& view = job.c.view;
  for (const bool first : {true, false}) {
    const auto& ranks = first ? crossed.one_first : crossed.two_first;
    const StuckInstance& a = first ? *crossed.one : *crossed.two;
    const StuckInstance& b = first ? *crossed.two : *crossed.one;
    verdict.evidence.push_back(
        {Side(view, ranks, a, b) + ".", static_cast<double>(ranks.size()), "ranks", 0, "open ops"});
  }
  AddOrders(view, orders, crossed.Ranks(), "rows", verdict);
  verdict.would_change.push_back("Start times that show both ops begun on all of these ranks.");
  verdict.action_text =
      "Call these ops in one order on all ranks, or wait for the first in between.";
  verdict.action_command =
      CommandOnProcess("py-spy dump --pid PID", FactsOf(view, verdict.entity.ranks.front()));
}

}  // namespace

std::vector<RankId> CrossedOps::Ranks() const {
  std::vector<RankId> ranks = one_first;
  ranks.insert(ranks.end(), two_first.begin(), two_first.end());
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::optional<CrossedOps> FindCrossedOps(const WaitFor& graph) {
  const Foremost foremost = OldestOfEachGroup(graph);
  for (auto one = foremost.begin(); one != foremost.end(); ++one) {
    for (auto two = std::next(one); two != foremost.end(); ++two) {
      CrossedOps crossed{one->second, two->second, WhoEntered(*one->second, *two->second),
                         WhoEntered(*two->second, *one->second)};
      if (!crossed.one_first.empty() && !crossed.two_first.empty()) return crossed;
    }
  }
  return std::nullopt;
}

Verdict ConvictCrossed(const StuckJob& job, const CrossedOps& crossed, const Orders& orders) {
  const JobView& view = job.c.view;
  const auto broken = FindOrderBreak(orders, crossed.Ranks());
  const std::size_t one = crossed.one_first.size(), two = crossed.two_first.size();
  const auto& fewer = one < two ? crossed.one_first : crossed.two_first;
  std::vector<RankId> named = one == two ? crossed.Ranks() : fewer;
  if (broken) named = {broken->rank};
  Verdict verdict = BaseVerdict(job, Cause::kMismatch, std::move(named));
  verdict.grade = broken ? Grade::kSupported : Grade::kHypothesis;
  verdict.sentence = absl::StrFormat(
      "%s, %s the other way round: each side may wait for the other.",
      Side(view, crossed.one_first, *crossed.one, *crossed.two), RanksInWords(crossed.two_first));
  if (broken) {
    verdict.sentence += absl::StrFormat(" Rank %d had never done so before.", broken->rank.value);
    verdict.evidence.push_back({"Times that it called them in the other order.",
                                static_cast<double>(broken->times), "times", 0, "rows"});
  } else {
    verdict.counter_evidence.push_back(
        {"One of the two orders is right; which one, these ranks' habits do not show.",
         static_cast<double>(one + two), "ranks", 0, "rows"});
  }
  Describe(job, crossed, orders, verdict);
  return verdict;
}

}  // namespace fathom::diagnosis
