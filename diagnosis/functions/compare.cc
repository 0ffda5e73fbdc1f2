#include "diagnosis/functions/compare.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "diagnosis/functions/chance.h"
#include "diagnosis/functions/function_shares.h"
#include "diagnosis/functions/name_function.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

std::vector<const RankStacks*> Usable(const StackCapture& capture, const std::vector<RankId>& ranks,
                                      const CompareLimits& limits) {
  std::vector<const RankStacks*> usable;
  for (const RankId rank : ranks) {
    const auto at = capture.ranks.find(rank);
    if (at == capture.ranks.end() || at->second.samples < limits.least_samples) continue;
    usable.push_back(&at->second);
  }
  return usable;
}

HotFunction HotOf(const Candidate& each, std::uint32_t line) {
  return {std::string(each.place.function), std::string(each.place.file), line, each.mine.whole,
          each.peers};
}

// Lines with time of their own, most beyond the peers' first.
std::vector<HotFunction> TableOf(Candidates all, const CompareLimits& limits) {
  std::erase_if(all, [](const Candidate& each) { return !each.mine.line || each.mine.own <= 0; });
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.mine.own - a.own_peers > b.mine.own - b.own_peers;
  });
  all.resize(std::min(all.size(), limits.table_rows));
  std::vector<HotFunction> table;
  for (const Candidate& each : all) {
    table.push_back({std::string(each.place.function), std::string(each.place.file),
                     each.place.line, each.mine.own, each.own_peers});
  }
  return table;
}

double DoingShare(const RankStacks& stacks, const std::string& what) {
  double looks = 0;
  for (const auto& [name, count] : stacks.doing) looks += static_cast<double>(count);
  const auto at = stacks.doing.find(what);
  return looks == 0 || at == stacks.doing.end() ? 0 : static_cast<double>(at->second) / looks;
}

// What the thread does so much more often that it must do it there.
void AddDoing(const RankStacks& mine, const std::vector<const RankStacks*>& peers, double excess,
              const CompareLimits& limits, Detail& out) {
  double most = limits.doing_share * excess;
  for (const auto& [name, count] : mine.doing) {
    std::vector<double> shares;
    for (const RankStacks* each : peers) shares.push_back(DoingShare(*each, name));
    const double usual = Median(std::move(shares));
    const double own = DoingShare(mine, name);
    if (own - usual < most) continue;
    most = own - usual;
    out.doing = name;
    out.doing_share = own;
    out.doing_peers_share = usual;
  }
}

double IterationsIn(const StackCapture& capture, const RankStacks& mine) {
  if (capture.iterations > 0) return static_cast<double>(capture.iterations);
  if (capture.iteration.count <= 0) return 0;
  return std::max(1.0, mine.lasted.Seconds() / capture.iteration.Seconds());
}

// What it waited for a core beyond its peers, of all that it does.
double CoreWaitOf(const RankStacks& mine, const std::vector<const RankStacks*>& peers) {
  std::vector<double> usual;
  for (const RankStacks* each : peers) usual.push_back(each->core_wait);
  return std::max(0.0, mine.core_wait - Median(std::move(usual)));
}

// Leaves those of `large` that are more than chance and waiting for a core; says why where none is.
// A place has its part of that waiting, as it has of what the rank does.
std::string SiftOut(const Compared& compared, const CompareLimits& limits, Candidates& large) {
  const Candidate most = *InnermostOf(compared.mine, large);
  const double waited = CoreWaitOf(compared.mine, compared.peers);
  const auto own = [&](const Candidate& each) { return each.excess() - waited * each.mine.whole; };
  std::erase_if(large, [&](const Candidate& each) {
    return own(each) < limits.least_excess ||
           !BeyondChance(compared, each.place, own(each), {limits.sigmas, limits.least_excess});
  });
  if (!large.empty()) return "";
  if (own(most) < limits.least_excess) {
    return absl::StrFormat(
        "a function with more time of its own: it waited for a core %.0f %% of the time longer "
        "than its peers",
        100 * waited);
  }
  return absl::StrFormat(
      "more iterations: the %.0f %% of the time that %s holds beyond its peers may be chance in so "
      "few of them",
      100 * most.excess(), FunctionInWords(HotOf(most, most.place.line)));
}

// Why no place has enough of it.
std::string TooSmallInWords(const std::vector<HotFunction>& table, double excess,
                            const CompareLimits& limits) {
  const std::string spread = "one function that holds most of it: it is spread over several";
  if (table.empty()) return spread;
  const HotFunction& most = table.front();
  const double beyond = std::max(0.0, most.share - most.peers_share);
  if (excess < limits.least_excess || beyond >= limits.explains_excess * excess) {
    return absl::StrFormat(
        "one function that holds %.0f %% of its time beyond its peers: the most is %.1f %%, in %s",
        100 * limits.least_excess, 100 * beyond, FunctionInWords(most));
  }
  return absl::StrFormat("%s, of which %s holds most, %.0f %%", spread, FunctionInWords(most),
                         100 * beyond / excess);
}

// Why a place in which its peers spend time as well is nobody's fault: the rank does more of what
// they all do, or does it all more slowly. Waiting for others hides how much of the rest has grown.
std::string SharedInWords(const Candidates& all, const Candidate& named, double of_loss,
                          const CompareLimits& limits) {
  if (GrownAlike(all, named, {limits.shared, limits.alike})) {
    return "a function that has grown more than others: all that it does takes longer alike";
  }
  if (named.peers < limits.shared) return "";
  const double growth = named.mine.whole / named.peers - 1;
  if (limits.flop_times - 1 >= limits.alike * growth) {
    return absl::StrFormat(
        "a function of its own: it has %.1f times the products of matrices (FLOP) of its peers to "
        "compute, in what they all do",
        limits.flop_times);
  }
  if (of_loss == 0 || of_loss >= kMostOfLoss) return "";
  return absl::StrFormat(
      "a function that explains most of what is lost: %s, where its peers spend time too (%.0f %%, "
      "it %.0f %%), explains %.0f %% of it",
      FunctionInWords(HotOf(named, LineOf(all, named))), 100 * named.peers, 100 * named.mine.whole,
      100 * of_loss);
}

std::string MissingOn(const StackCapture& capture, RankId culprit, const CompareLimits& limits) {
  const auto at = capture.ranks.find(culprit);
  if (at == capture.ranks.end()) return "its stacks";
  if (!at->second.refused.empty()) return "its stacks: " + at->second.refused;
  if (at->second.samples < limits.least_samples) return "enough samples of its stacks";
  return "";
}

}  // namespace

Detail CompareFunctions(const StackCapture& capture, RankId culprit,
                        const std::vector<RankId>& peers, double lost,
                        const CompareLimits& limits) {
  Detail out;
  out.missing = MissingOn(capture, culprit, limits);
  if (!out.missing.empty()) return out;
  const RankStacks& mine = capture.ranks.at(culprit);
  const std::vector<const RankStacks*> others = Usable(capture, peers, limits);
  out.peers = others.size();
  out.samples = mine.samples;
  out.traced = mine.source.starts_with("trace");
  out.lasted = mine.lasted;
  if (others.empty()) {
    out.missing = "stacks of a rank that does the same work";
    return out;
  }
  std::vector<PlaceShares> shares;
  for (const RankStacks* each : others) shares.push_back(SharesOf(*each));
  const Candidates all = CandidatesOf(SharesOf(mine), shares);
  out.functions = TableOf(all, limits);
  const double excess = ExcessOf(all);
  if (lost > 0 && excess < limits.part_of_loss * lost) {
    out.missing = absl::StrFormat(
        "most of what is lost: the capture shows %.0f %% of it as more than its peers spend",
        100 * excess / lost);
    return out;
  }
  const Compared compared{mine, others, IterationsIn(capture, mine)};
  Candidates large = LargeOf(all, std::max({limits.part_of_loss * lost,
                                            limits.explains_excess * excess, limits.least_excess}));
  out.missing = large.empty() ? TooSmallInWords(out.functions, excess, limits)
                              : SiftOut(compared, limits, large);
  if (!out.missing.empty()) return out;
  const Candidate& named = *InnermostOf(mine, large);
  const double of_loss = lost > 0 ? std::min(1.0, named.excess() / lost) : 0;
  out.missing = SharedInWords(all, named, of_loss, limits);
  if (!out.missing.empty()) return out;
  out.where = HotOf(named, LineOf(all, named));
  out.of_loss = of_loss;
  AddDoing(mine, others, named.excess(), limits, out);
  return out;
}

}  // namespace fathom::diagnosis
