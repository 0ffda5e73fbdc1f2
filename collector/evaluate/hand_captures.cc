#include "collector/evaluate/hand_captures.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "diagnosis/functions/name_function.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::collector {
namespace {

constexpr Nanos kHour{3600ll * 1'000'000'000};

std::string LengthInWords(const CaptureWish& wish) {
  if (wish.iterations > 0) return absl::StrCat(wish.iterations, " iterations");
  return absl::StrCat(wish.seconds, " s");
}

}  // namespace

absl::Status HandCaptures::WithinLimit(const std::string& job) const {
  const std::size_t begun = parts_.captures.BegunSince(job, parts_.clock.Mono() - kHour);
  if (begun < static_cast<std::size_t>(settings_.per_hour)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("this job was captured ", begun, " times within the hour, and captures_per_hour",
                   " is ", settings_.per_hour, "; ask again later, or raise it"));
}

void HandCaptures::Complete(const JobState& job, CaptureWish& wish) const {
  std::set<RankId> convicted;
  for (const Episode& episode : parts_.ledger.Of(job.name())) {
    if (!episode.open() || !diagnosis::WantsFunction(episode.verdict)) continue;
    const auto& ranks = episode.verdict.entity.ranks;
    convicted.insert(ranks.begin(), ranks.end());
  }
  if (wish.ranks.empty()) {
    std::vector<RankId> others;
    for (const diagnosis::RankFacts& facts : job.View(parts_.connected).ranks) {
      if (facts.state == diagnosis::ProcessState::kGone) continue;
      (convicted.contains(facts.rank) ? wish.ranks : others).push_back(facts.rank);
    }
    wish.ranks.insert(wish.ranks.end(), others.begin(), others.end());
    wish.ranks.resize(std::min(wish.ranks.size(), StackCaptures::kMostRanks));
    std::sort(wish.ranks.begin(), wish.ranks.end());
  }
  for (const RankId rank : wish.ranks) {
    if (convicted.contains(rank)) wish.accused.push_back(rank);
  }
}

absl::Status HandCaptures::Ask(const JobState& job, CaptureWish wish, const std::string& who) {
  Complete(job, wish);
  absl::Status asked = WithinLimit(job.name());
  if (asked.ok()) asked = parts_.captures.Ask(job, wish);
  parts_.say(absl::StrCat("job ", job.name(), ": capture of the stacks of ",
                          diagnosis::RanksInWords(wish.ranks), " for ", LengthInWords(wish),
                          wish.native ? ", native frames too" : "", ", by hand",
                          who.empty() ? "" : " of " + who, ": ",
                          asked.ok() ? "asked for" : std::string(asked.message())));
  return asked;
}

HandCapture HandCaptures::Read(const JobState& job) const {
  HandCapture out;
  out.shown = parts_.captures.Shown(job.name());
  if (out.shown.id == 0 || !out.shown.over) return out;
  out.functions = diagnosis::CompareRanks(job.View(parts_.connected), out.shown.capture);
  return out;
}

}  // namespace fathom::collector
