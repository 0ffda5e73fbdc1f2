#include "diagnosis/functions/compare.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "diagnosis/functions/function_shares.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

struct Candidate {
  Place place;
  PlaceShare mine;
  double peers = 0;
  double own_peers = 0;

  double excess() const { return mine.whole - peers; }
};

using Candidates = std::vector<Candidate>;

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

double MedianShare(const std::vector<PlaceShares>& peers, const Place& place, bool own) {
  std::vector<double> shares;
  for (const PlaceShares& each : peers) {
    const auto at = each.find(place);
    shares.push_back(at == each.end() ? 0 : own ? at->second.own : at->second.whole);
  }
  return Median(std::move(shares));
}

Candidates CandidatesOf(const PlaceShares& mine, const std::vector<PlaceShares>& peers) {
  Candidates all;
  for (const auto& [place, share] : mine) {
    all.push_back(
        {place, share, MedianShare(peers, place, false), MedianShare(peers, place, true)});
  }
  return all;
}

// All that the culprit has beyond its peers, each sample at its innermost line.
double ExcessOf(const Candidates& all) {
  double sum = 0;
  for (const Candidate& each : all) {
    if (each.mine.line) sum += std::max(0.0, each.mine.own - each.own_peers);
  }
  return sum;
}

// What so few samples may show by chance.
double ChanceOf(const Candidate& each, std::uint64_t mine, std::uint64_t peers) {
  const auto variance = [](double share, std::uint64_t samples) {
    return share * (1 - share) / static_cast<double>(samples);
  };
  return std::sqrt(variance(each.mine.whole, mine) + variance(each.peers, peers));
}

// Further in: less of the time, or as much of it deeper.
bool Inner(const Candidate& a, const Candidate& b) {
  constexpr double kSame = 0.95;
  if (a.mine.whole < kSame * b.mine.whole) return true;
  if (b.mine.whole < kSame * a.mine.whole) return false;
  if (a.mine.depth != b.mine.depth) return a.mine.depth < b.mine.depth;
  return a.place.line != 0 && b.place.line == 0;
}

const Candidate* InnermostOf(const Candidates& all, double needed, std::uint64_t samples,
                             std::uint64_t peer_samples, const CompareLimits& limits) {
  const Candidate* best = nullptr;
  for (const Candidate& each : all) {
    const double chance = limits.sigmas * ChanceOf(each, samples, peer_samples);
    if (each.excess() < std::max({needed, chance, limits.least_excess})) continue;
    if (best == nullptr || Inner(each, *best)) best = &each;
  }
  return best;
}

// Whether most of what the culprit does besides has grown as the place has.
bool GrownAlike(const Candidates& all, const Candidate& named, const CompareLimits& limits) {
  if (named.peers < limits.shared) return false;
  const double growth = named.mine.whole / named.peers - 1;
  double grown = 0, besides = 0;
  for (const Candidate& each : all) {
    const bool same =
        each.place.function == named.place.function && each.place.file == named.place.file;
    if (!each.mine.line || same || each.own_peers < limits.shared) continue;
    besides += each.own_peers;
    if (each.mine.own / each.own_peers - 1 >= limits.alike * growth) grown += each.own_peers;
  }
  return besides > 0 && grown >= besides / 2;
}

// Of a function whose lines share the excess, the line with most of it.
std::uint32_t LineOf(const Candidates& all, const Candidate& named) {
  if (named.place.line != 0) return named.place.line;
  const Candidate* most = nullptr;
  for (const Candidate& each : all) {
    if (each.place.line == 0 || each.place.function != named.place.function ||
        each.place.file != named.place.file) {
      continue;
    }
    if (most == nullptr || each.excess() > most->excess()) most = &each;
  }
  return most == nullptr ? 0 : most->place.line;
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
  std::uint64_t peer_samples = 0;
  for (const RankStacks* each : others) {
    shares.push_back(SharesOf(*each));
    peer_samples += each->samples;
  }
  const Candidates all = CandidatesOf(SharesOf(mine), shares);
  out.functions = TableOf(all, limits);
  const double needed =
      std::max(limits.explains_loss * lost, limits.explains_excess * ExcessOf(all));
  const Candidate* named = InnermostOf(all, needed, mine.samples, peer_samples, limits);
  if (named == nullptr) {
    out.missing = "one function that holds most of it: it is spread over several";
  } else if (GrownAlike(all, *named, limits)) {
    out.missing = "a function that has grown more than others: all that it does takes longer alike";
  } else {
    out.where = HotOf(*named, LineOf(all, *named));
    AddDoing(mine, others, named->excess(), limits, out);
  }
  return out;
}

}  // namespace fathom::diagnosis
