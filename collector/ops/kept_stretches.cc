#include "collector/ops/kept_stretches.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace fathom::collector {

std::string RankRanges(const std::map<std::uint32_t, WallNs>& ranks) {
  std::string out;
  for (auto at = ranks.begin(); at != ranks.end();) {
    const std::uint32_t first = at->first;
    std::uint32_t last = first;
    while (++at != ranks.end() && at->first == last + 1) last = at->first;
    absl::StrAppend(&out, out.empty() ? "" : ",", first);
    if (last > first) absl::StrAppend(&out, "-", last);
  }
  return out;
}

// Whoever still tells belongs to the next one as well.
void KeptStretches::Begin(std::string_view job, Going& going, WallNs now) {
  if (going.from.known()) {
    ended_.push_back({std::string(job), going.from, going.to, RankRanges(going.heard)});
  }
  std::erase_if(going.heard, [now](const auto& each) { return now - each.second > kSilent; });
  going.from = now;
}

void KeptStretches::Heard(std::string_view job, const std::vector<std::uint32_t>& ranks,
                          WallNs now) {
  auto at = jobs_.find(job);
  if (at == jobs_.end()) at = jobs_.try_emplace(std::string(job)).first;
  Going& going = at->second;
  const bool anew = std::any_of(ranks.begin(), ranks.end(),
                                [&](std::uint32_t rank) { return !going.heard.contains(rank); });
  const bool together = going.from.known() && now - going.from <= kTogether;
  const bool pause = going.from.known() && now - going.to > kSilent;
  const bool lasted = now - going.from > kLongest;
  if (!going.from.known() || pause || lasted || (anew && !together)) Begin(job, going, now);
  for (const std::uint32_t rank : ranks) going.heard[rank] = now;
  going.to = std::max(going.to, now);
  going.changed = true;
}

std::vector<KeptStretch> KeptStretches::TakeChanged() {
  for (auto& [job, going] : jobs_) {
    const bool silent = std::any_of(going.heard.begin(), going.heard.end(), [&](const auto& each) {
      return going.to - each.second > kSilent;
    });
    if (silent) Begin(job, going, going.to);
    if (std::exchange(going.changed, false)) {
      ended_.push_back({job, going.from, going.to, RankRanges(going.heard)});
    }
  }
  WallNs newest;
  for (const auto& [job, going] : jobs_) newest = std::max(newest, going.to);
  std::erase_if(jobs_, [newest](const auto& each) { return newest - each.second.to > kLongest; });
  return std::exchange(ended_, {});
}

}  // namespace fathom::collector
