#include "collector/runs/run_words.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include "diagnosis/wording/phrase.h"

namespace fathom::collector {

std::vector<RunRecord> Comparable(const RunRecord& run, const std::vector<RunRecord>& runs) {
  std::vector<RunRecord> out;
  for (const RunRecord& other : runs) {
    if (other.id == run.id || !other.healthy()) continue;
    if (WhyOther(run.profile, other.profile).empty()) out.push_back(other);
  }
  return out;
}

std::string LikeNone(const RunRecord& run, const std::vector<RunRecord>& runs) {
  const RunRecord* nearest = nullptr;
  std::size_t others = 0;
  for (const RunRecord& other : runs) {
    if (other.id == run.id) continue;
    ++others;
    const bool same_program = other.profile.program == run.profile.program;
    if (nearest == nullptr && same_program) nearest = &other;
  }
  if (others == 0) return "it is the first run that is kept";
  if (nearest == nullptr) return absl::StrCat("it is like none of ", others, " earlier runs");
  const std::string why = WhyOther(run.profile, nearest->profile);
  return absl::StrCat("it is like none of ", others, " earlier runs; against the last of its ",
                      "program, ", nearest->id, ": ",
                      why.empty() ? "that one was not healthy" : why);
}

std::string OutcomeInWords(const diagnosis::RunJudgement& j) {
  using diagnosis::Duration;
  using diagnosis::RunOutcome;
  if (j.outcome == RunOutcome::kUnknown) return absl::StrCat("not compared: ", j.why);
  const std::string figures = absl::StrFormat("an iteration takes %s; in %d earlier runs %s",
                                              Duration(j.after_s), j.runs, Duration(j.before_s));
  switch (j.outcome) {
    case RunOutcome::kSlower:
      return absl::StrCat("slower than its history: ", figures);
    case RunOutcome::kFaster:
      return absl::StrCat("faster than its history: ", figures);
    case RunOutcome::kStarved:
      return absl::StrCat("slower for want of cores, which others use: ", figures);
    default:
      return absl::StrFormat("as its history: %s; %.1f %% more would be told", figures,
                             100 * j.told_from);
  }
}

std::pair<diagnosis::Distribution, diagnosis::Distribution> CommonStretch(const RunRecord& a,
                                                                          const RunRecord& b) {
  if (a.start.known() && b.start.known()) return {a.start, b.start};
  if (a.first.known() && b.first.known()) return {a.first, b.first};
  return {a.whole, b.whole};
}

}  // namespace fathom::collector
