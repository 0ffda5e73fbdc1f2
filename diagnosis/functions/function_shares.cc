#include "diagnosis/functions/function_shares.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

double MedianShare(const std::vector<PlaceShares>& peers, const Place& place, bool own) {
  std::vector<double> shares;
  for (const PlaceShares& each : peers) {
    const auto at = each.find(place);
    shares.push_back(at == each.end() ? 0 : own ? at->second.own : at->second.whole);
  }
  return Median(std::move(shares));
}

bool Shows(const CapturedFrame& frame, const Place& place) {
  return !frame.internal && frame.function == place.function && frame.file == place.file &&
         (place.line == 0 || place.line == frame.line);
}

// How far in each stack shows it: 0 is the innermost frame, and as many as there are frames none.
std::vector<std::size_t> DepthsOf(const RankStacks& stacks, const Place& place) {
  std::vector<std::size_t> depths;
  for (const CapturedStack& stack : stacks.stacks) {
    const auto at =
        std::find_if(stack.frames.begin(), stack.frames.end(),
                     [&](std::uint32_t frame) { return Shows(stacks.frames[frame], place); });
    depths.push_back(static_cast<std::size_t>(at - stack.frames.begin()));
  }
  return depths;
}

bool Inner(const RankStacks& stacks, const Candidate& a, const Candidate& b) {
  const std::vector<std::size_t> of_a = DepthsOf(stacks, a.place), of_b = DepthsOf(stacks, b.place);
  std::uint64_t inner = 0, outer = 0;
  for (std::size_t i = 0; i < stacks.stacks.size(); ++i) {
    const std::size_t none = stacks.stacks[i].frames.size();
    if (of_a[i] == none || of_b[i] == none || of_a[i] == of_b[i]) continue;
    (of_a[i] < of_b[i] ? inner : outer) += stacks.stacks[i].samples;
  }
  if (inner != outer) return inner > outer;
  if ((a.place.line != 0) != (b.place.line != 0)) return a.place.line != 0;
  return a.mine.whole < b.mine.whole;
}

// What calls all that the rank does, and has no excess in itself, is no place of it.
bool OnePlace(const Candidate& each, double least, double all_it_does) {
  constexpr double kAll = 0.95;
  return each.mine.own - each.own_peers >= least || each.mine.whole < kAll * all_it_does;
}

}  // namespace

bool WaitsInCollective(const RankStacks& stacks, const CapturedStack& stack) {
  return std::any_of(stack.frames.begin(), stack.frames.end(), [&](std::uint32_t at) {
    const std::string_view file = stacks.frames[at].file, name = stacks.frames[at].function;
    // As a profiler names the ops themselves.
    const bool op = file.empty() && (name.starts_with("c10d::") || name.starts_with("gloo:") ||
                                     name.starts_with("nccl:") || name == "record_param_comms");
    return op || file.ends_with("torch/distributed/distributed_c10d.py") ||
           file.ends_with("torch/distributed/c10d_logger.py") ||
           file.ends_with("torch/distributed/_functional_collectives.py");
  });
}

std::vector<bool> ShowsPlace(const RankStacks& stacks, const Place& place) {
  std::vector<bool> shows;
  for (const CapturedStack& stack : stacks.stacks) {
    const bool there = std::any_of(stack.frames.begin(), stack.frames.end(), [&](std::uint32_t at) {
      return Shows(stacks.frames[at], place);
    });
    shows.push_back(there && !WaitsInCollective(stacks, stack));
  }
  return shows;
}

PlaceShares SharesOf(const RankStacks& stacks) {
  PlaceShares shares;
  if (stacks.samples == 0) return shares;
  for (const CapturedStack& stack : stacks.stacks) {
    if (WaitsInCollective(stacks, stack)) continue;
    const double share = static_cast<double>(stack.samples) / static_cast<double>(stacks.samples);
    std::set<Place> seen;
    bool innermost = true;
    for (const std::uint32_t at : stack.frames) {
      const CapturedFrame& frame = stacks.frames[at];
      if (frame.internal) continue;
      for (const std::uint32_t line : {0u, frame.line}) {
        const Place place{frame.function, frame.file, line};
        if (!seen.insert(place).second) continue;
        PlaceShare& told = shares[place];
        told.whole += share;
        told.line = told.line || line == frame.line;
        if (innermost) told.own += share;
      }
      innermost = false;
    }
  }
  return shares;
}

Candidates CandidatesOf(const PlaceShares& mine, const std::vector<PlaceShares>& peers) {
  Candidates all;
  for (const auto& [place, share] : mine) {
    all.push_back(
        {place, share, MedianShare(peers, place, false), MedianShare(peers, place, true)});
  }
  return all;
}

double ExcessOf(const Candidates& all) {
  double sum = 0;
  for (const Candidate& each : all) {
    if (each.mine.line) sum += std::max(0.0, each.mine.own - each.own_peers);
  }
  return sum;
}

Candidates LargeOf(const Candidates& all, double least) {
  double all_it_does = 0;
  for (const Candidate& each : all) all_it_does = std::max(all_it_does, each.mine.whole);
  Candidates large;
  std::copy_if(all.begin(), all.end(), std::back_inserter(large), [&](const Candidate& each) {
    return each.excess() >= least && OnePlace(each, least, all_it_does);
  });
  return large;
}

const Candidate* InnermostOf(const RankStacks& stacks, const Candidates& all) {
  const Candidate* best = nullptr;
  for (const Candidate& each : all) {
    if (best == nullptr || Inner(stacks, each, *best)) best = &each;
  }
  return best;
}

bool GrownAlike(const Candidates& all, const Candidate& named, const AlikeLimits& limits) {
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

}  // namespace fathom::diagnosis
