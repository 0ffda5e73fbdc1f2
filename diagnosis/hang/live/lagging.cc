#include "diagnosis/hang/live/lagging.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "diagnosis/hang/live/verdicts.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

// Whether it ever told that an op has begun on it.
bool TellsBeginnings(const RankFacts& facts) {
  return std::any_of(facts.groups.begin(), facts.groups.end(),
                     [](const GroupProgress& progress) { return progress.started > 0; });
}

bool NothingOlder(const RankFacts& facts, const OpenOp& op) {
  return std::none_of(facts.open_ops.begin(), facts.open_ops.end(), [&](const OpenOp& other) {
    if (other.group == op.group && other.sequence == op.sequence) return false;
    if (other.group == op.group && other.sequence != kNoSequence && op.sequence != kNoSequence) {
      return other.sequence < op.sequence;
    }
    return other.age >= op.age;
  });
}

// Members of an op that all have entered and most have begun, that have not and are free to.
std::vector<RankId> FreeToBegin(const JobView& view, const StuckInstance& stuck) {
  std::vector<RankId> free;
  if (!stuck.held_by.empty() || !stuck.unknown.empty() || stuck.inside.size() < 2) return free;
  const auto begun = std::count_if(stuck.inside.begin(), stuck.inside.end(),
                                   [](const auto& member) { return member.second.started; });
  if (begun < 2 || 2 * static_cast<std::size_t>(begun) <= stuck.inside.size()) return free;
  for (const auto& [rank, op] : stuck.inside) {
    if (!op.started && NothingOlder(*FactsOf(view, rank), op)) free.push_back(rank);
  }
  return free;
}

}  // namespace

std::optional<Lagging> FindLagging(const StuckJob& job) {
  const JobView& view = job.c.view;
  std::optional<Lagging> found;
  for (const StuckInstance& stuck : job.graph.instances) {
    for (const RankId rank : FreeToBegin(view, stuck)) {
      if (found && found->rank != rank) return std::nullopt;
      if (!found) found = Lagging{rank, &stuck, {}};
    }
  }
  if (!found || !TellsBeginnings(*FactsOf(view, found->rank))) return std::nullopt;
  for (const auto& [rank, op] : found->stuck->inside) {
    if (op.started) found->begun.push_back(rank);
  }
  return found;
}

Verdict ConvictLagging(const StuckJob& job, const Lagging& lagging) {
  const JobView& view = job.c.view;
  const RankFacts& facts = *FactsOf(view, lagging.rank);
  const OpenOp& op = lagging.stuck->inside.at(lagging.rank);
  Verdict verdict = BaseVerdict(job, Cause::kNonCommunicationHang, {lagging.rank});
  const Grade grade = GradeOfHang(job, facts, op.age, Occupation::kLooping);
  verdict.grade = grade == Grade::kHypothesis ? grade : Grade::kSupported;
  if (view.now.known()) verdict.since_time = view.now - op.age;
  if (verdict.victims.empty()) verdict.victims = lagging.begun;
  std::erase(verdict.victims, lagging.rank);
  const std::string name(CollectiveKindName(op.kind));
  verdict.sentence = absl::StrFormat(
      "%s entered %s %d of %s %s ago as the others did, and its device has not begun it, while on "
      "%s it runs and waits; no communication that it entered before is open: something else "
      "keeps its device busy.",
      RankAndGpuName(view, lagging.rank), name, lagging.stuck->sequence.value,
      GroupName(view, lagging.stuck->group), Duration(op.age.Seconds()),
      RanksInWords(lagging.begun));
  verdict.evidence.push_back({"Members whose part of the op has begun, against all.",
                              static_cast<double>(lagging.begun.size()), "ranks",
                              static_cast<double>(lagging.stuck->inside.size()), "open ops"});
  verdict.counter_evidence.push_back({"A long computation on its device looks the same, and ends.",
                                      op.age.Seconds(), "s", 0, "open ops"});
  verdict.would_change.push_back("Its device begins the op.");
  AdviseOnRank(view, lagging.rank, verdict);
  return verdict;
}

}  // namespace fathom::diagnosis
