#include "diagnosis/hang/live/rendezvous.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/hang/live/recent_use.h"
#include "diagnosis/hang/live/suspect.h"
#include "diagnosis/hang/live/verdicts.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/watch/stall.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr char kQuestion[] = "why the job stands still";
constexpr std::string_view kMark = "communicator (";

// The call that makes a communicator which it is in; empty: none.
std::string CallOf(const RankFacts& facts) {
  if (!facts.open_mark.starts_with(kMark) || !facts.open_mark.ends_with(')')) return "";
  return facts.open_mark.substr(kMark.size(), facts.open_mark.size() - kMark.size() - 1);
}

bool TellsNothing(const RankFacts& facts) {
  return !facts.agent_reachable || IsDead(facts) || !facts.open_ops.empty();
}

void Abstain(Findings& out, std::string missing) {
  out.abstained.push_back({kQuestion, std::move(missing)});
}

std::string WhoWaits(const JobView& view, const Rendezvous& found) {
  return absl::StrCat("the ", found.inside.size(), " others of ", view.world_size, " wait in ",
                      found.call);
}

Verdict Base(const StuckJob& job, const Rendezvous& found, Cause cause, RankId rank) {
  const JobView& view = job.c.view;
  Verdict verdict = BaseVerdict(job, cause, {rank});
  verdict.victims = found.inside;
  if (view.now.known()) verdict.since_time = view.now - found.together;
  verdict.evidence.push_back(
      {absl::StrCat(RanksAtStart(found.inside), " are all inside of ", found.call, "."),
       found.together.Seconds(), "s", 0, "python marks"});
  verdict.would_change.push_back(absl::StrCat("It enters ", found.call, " after all."));
  return verdict;
}

Verdict ConvictHaltedBefore(const StuckJob& job, const Rendezvous& found, const RankFacts& facts) {
  const Verdict halted = ConvictHalted(job, facts);
  Verdict verdict = Base(job, found, Cause::kProcessStopped, facts.rank);
  verdict.grade = halted.grade;
  verdict.action_text = halted.action_text;
  verdict.action_command = halted.action_command;
  verdict.evidence.push_back(halted.evidence.back());
  verdict.sentence = absl::StrFormat(
      "%s is stopped or frozen and has not come to %s, in which %s have waited for %s.",
      RankName(job.c.view, facts.rank), found.call, RanksInWords(found.inside),
      Duration(found.together.Seconds()));
  return verdict;
}

Verdict ConvictAbsentFrom(const StuckJob& job, const Rendezvous& found, const RankFacts& facts) {
  const DiagnosisConfig& config = job.c.config;
  const Occupation occupation = OccupationOf(facts, config);
  const bool slow = IsSlowOnly(occupation);
  Verdict verdict =
      Base(job, found, slow ? Cause::kHostSlow : Cause::kNonCommunicationHang, facts.rank);
  const Nanos idle = std::min(found.together, IdleFor(facts, config));
  verdict.grade = slow ? Grade::kHypothesis : GradeOfHang(job, facts, idle, occupation);
  verdict.sentence =
      absl::StrFormat("%s has not come to %s, in which %s have waited for %s: it %s%s.",
                      RankName(job.c.view, facts.rank), found.call, RanksInWords(found.inside),
                      Duration(found.together.Seconds()), InWords(occupation, facts),
                      verdict.grade == Grade::kHypothesis ? "; it may still be at work" : "");
  DescribeSuspect(occupation, facts, config, verdict);
  AdviseOnRank(job.c.view, facts.rank, verdict);
  return verdict;
}

}  // namespace

std::optional<Rendezvous> FindRendezvous(const StuckJob& job) {
  const JobView& view = job.c.view;
  Rendezvous found;
  for (const RankFacts& facts : view.ranks) {
    if (TellsNothing(facts)) return std::nullopt;
    const std::string call = CallOf(facts);
    if (call.empty()) {
      const bool silent = IsStalled(facts, job.longest_iteration, job.c.config);
      if (!silent && !IsHalted(facts)) return std::nullopt;
      found.absent.push_back(facts.rank);
      continue;
    }
    const bool first = found.inside.empty();
    if (!first && call != found.call) return std::nullopt;
    found.call = call;
    found.together = first ? facts.in_mark_for : std::min(found.together, facts.in_mark_for);
    found.inside.push_back(facts.rank);
  }
  if (found.inside.empty()) return std::nullopt;
  for (std::uint32_t rank = 0; rank < view.world_size; ++rank) {
    if (FactsOf(view, RankId(rank)) == nullptr) found.unseen.push_back(RankId(rank));
  }
  return found;
}

void JudgeRendezvous(const StuckJob& job, const Rendezvous& found, Findings& out) {
  const JobView& view = job.c.view;
  if (!found.unseen.empty()) {
    return Abstain(out, absl::StrCat("what ", RanksInWords(found.unseen),
                                     found.unseen.size() == 1 ? " does" : " do", ", of which no ",
                                     "traced process was seen: ", WhoWaits(view, found)));
  }
  if (found.absent.empty()) {
    return Abstain(out, absl::StrCat("what keeps ", found.call, ": all ", view.world_size,
                                     " ranks are inside (it may be called in different orders, "
                                     "or the store or a network is out of reach)"));
  }
  if (found.absent.size() > 1) {
    return Abstain(out,
                   absl::StrCat("what ", RanksInWords(found.absent), " do: ", WhoWaits(view, found),
                                ", and they may wait for one another outside of it"));
  }
  const RankFacts& facts = *FactsOf(view, found.absent.front());
  out.verdicts.push_back(IsHalted(facts) ? ConvictHaltedBefore(job, found, facts)
                                         : ConvictAbsentFrom(job, found, facts));
}

}  // namespace fathom::diagnosis
