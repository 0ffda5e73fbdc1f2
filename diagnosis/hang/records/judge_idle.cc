#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/hang/records/situation.h"
#include "diagnosis/hang/records/stopped_job.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis::records {
namespace {

Cause CauseOf(const RankFacts* facts) {
  if (facts == nullptr) return Cause::kNonCommunicationHang;
  switch (facts->state) {
    case ProcessState::kStopped:
      return Cause::kProcessStopped;
    case ProcessState::kZombie:
    case ProcessState::kGone:
      return Cause::kProcessDead;
    default:
      return Cause::kNonCommunicationHang;
  }
}

bool StackInCommunication(const JobView& view, RankId rank) {
  const RankRecord* record = FindRecord(view, rank);
  return record != nullptr && record->waiting_in_communication;
}

// Halted processes that somebody's progress depends on: any member of an op that is stuck.
std::vector<RankId> HaltedMembers(const Situation& s) {
  std::vector<RankId> halted;
  for (const RankFacts& facts : s.view.ranks) {
    if (CauseOf(&facts) == Cause::kNonCommunicationHang) continue;
    const bool member = std::any_of(
        s.graph.instances.begin(), s.graph.instances.end(), [&](const StuckInstance& instance) {
          const auto has = [&](const std::vector<RankId>& ranks) {
            return std::find(ranks.begin(), ranks.end(), facts.rank) != ranks.end();
          };
          return instance.done.empty() &&
                 (has(instance.absent) || has(instance.unknown) || has(instance.inside));
        });
    if (member) halted.push_back(facts.rank);
  }
  return halted;
}

// The op that this rank enqueued and its device never began; null if there is none.
const StuckInstance* QueuedIn(const RecordGraph& graph, RankId rank) {
  for (const StuckInstance& instance : graph.instances) {
    const auto& queued = instance.queued;
    if (std::find(queued.begin(), queued.end(), rank) != queued.end()) return &instance;
  }
  return nullptr;
}

// Its device is inside a send or receive; both ends are there, so the graph has no edge for it.
bool DeviceInMessage(const JobView& view, RankId rank) {
  const RankRecord* record = FindRecord(view, rank);
  return record != nullptr &&
         std::any_of(record->ops.begin(), record->ops.end(), [](const EnteredOp& op) {
           return op.open && op.started && IsPointToPoint(op.kind);
         });
}

// Of the idle ranks, those whose stack does not show that they wait after all: in a send or receive
// that the record does not list, or in an op that came after the record was written. Where the
// device is behind, the host waits for it by right.
std::vector<RankId> TrulyIdle(const Situation& s) {
  std::vector<RankId> idle;
  for (const RankId rank : s.sinks.idle) {
    const bool device = QueuedIn(s.graph, rank) != nullptr;
    if (device && DeviceInMessage(s.view, rank)) continue;
    if (device || !StackInCommunication(s.view, rank)) idle.push_back(rank);
  }
  return idle;
}

void DescribeDoing(const Situation& s, RankId rank, Verdict& verdict) {
  const RankRecord* record = FindRecord(s.view, rank);
  if (record != nullptr && !record->doing.empty()) {
    verdict.evidence.push_back(
        {absl::StrFormat("Rank %d is in %s.", rank.value, record->doing), 0, "", 0, "stacks"});
  }
  const RankFacts* facts = FactsOf(s.view, rank);
  if (facts == nullptr || facts->state == ProcessState::kUnknown) return;
  const auto state = [&]() -> std::string_view {
    switch (facts->state) {
      case ProcessState::kStopped:
        return "stopped by a signal (T)";
      case ProcessState::kRunning:
        return "running (R)";
      case ProcessState::kUninterruptible:
        return "in uninterruptible sleep (D)";
      case ProcessState::kZombie:
        return "dead, not yet waited for (Z)";
      case ProcessState::kGone:
        return "gone";
      default:
        return "sleeping (S)";
    }
  }();
  verdict.evidence.push_back(
      {absl::StrFormat("The process of rank %d is %s.", rank.value, std::string(state)),
       facts->cpu_while_silent.Seconds(), "s of CPU", facts->silent_for.Seconds(), "processes"});
}

std::string SentenceOf(const Situation& s, const Verdict& verdict) {
  const std::string who = RanksInWords(verdict.entity.ranks);
  const bool one = verdict.entity.ranks.size() == 1;
  const std::string waiting = verdict.victims.empty()
                                  ? std::string("nobody else waits")
                                  : absl::StrCat(RanksInWords(verdict.victims),
                                                 verdict.victims.size() == 1 ? " waits" : " wait");
  std::string what =
      one ? "never came to its next collective" : "never came to their next collective";
  const RankId first = verdict.entity.ranks.front();
  if (const StuckInstance* queued = QueuedIn(s.graph, first); queued != nullptr) {
    what =
        absl::StrCat("enqueued ", OpName(s.view, *queued),
                     one ? ", which its device never began" : ", which their devices never began");
  }
  if (verdict.cause == Cause::kCommunicationHang) {
    what = absl::StrCat(one ? "is still inside " : "are still inside ",
                        OpName(s.view, *LeftBehindIn(s.graph, first)),
                        ", which the others have finished");
  }
  if (verdict.cause == Cause::kProcessStopped)
    what = one ? "is stopped by a signal" : "are stopped by signals";
  if (verdict.cause == Cause::kProcessDead) what = one ? "is dead" : "are dead";
  const RankRecord* record = FindRecord(s.view, verdict.entity.ranks.front());
  if (one && record != nullptr && !record->doing.empty() &&
      verdict.cause == Cause::kNonCommunicationHang) {
    absl::StrAppend(&what, " (it is in ", record->doing, ")");
  }
  std::string sentence =
      absl::StrFormat("%s %s; %s for %s.", who, what, waiting, one ? "it" : "them");
  sentence[0] = 'R';
  return sentence;
}

Grade GradeOf(const Situation& s, const Verdict& verdict) {
  if (verdict.cause == Cause::kCommunicationHang) {
    return MayWaitForOthers(s, verdict.entity.ranks) ? Grade::kHypothesis : Grade::kSupported;
  }
  if (verdict.cause != Cause::kNonCommunicationHang) return Grade::kEstablished;
  Grade grade = Grade::kEstablished;
  for (const RankId rank : verdict.entity.ranks) {
    const RankRecord* record = FindRecord(s.view, rank);
    const RankFacts* facts = FactsOf(s.view, rank);
    if (QueuedIn(s.graph, rank) != nullptr) grade = Grade::kSupported;
    const bool seen =
        record != nullptr && (!record->doing.empty() || record->extent == RecordExtent::kHistory);
    const bool progress = facts != nullptr && !facts->groups.empty();
    if (!seen && !progress) grade = Grade::kSupported;
    if (s.point_to_point_hidden() && record != nullptr && record->doing.empty()) {
      return Grade::kHypothesis;
    }
  }
  return grade;
}

Verdict Convict(const Situation& s, Cause cause, std::vector<RankId> ranks) {
  Verdict verdict = Accuse(s, cause, std::move(ranks));
  verdict.grade = GradeOf(s, verdict);
  verdict.sentence = SentenceOf(s, verdict);
  AddWaits(s, verdict.entity.ranks, verdict);
  for (const RankId rank : verdict.entity.ranks) DescribeDoing(s, rank, verdict);
  if (cause == Cause::kCommunicationHang && verdict.grade == Grade::kHypothesis) {
    verdict.would_change.push_back("A member that took another root, or that these wait for.");
  }
  verdict.would_change.push_back(
      "A record of these ranks, written later, that shows them inside the op.");
  verdict.would_change.push_back("Records that were written while the job still made progress.");
  return verdict;
}

}  // namespace

std::vector<Verdict> JudgeIdle(const Situation& s, Findings& findings) {
  std::map<Cause, std::vector<RankId>> suspects;
  for (const RankId rank : HaltedMembers(s)) {
    suspects[CauseOf(FactsOf(s.view, rank))].push_back(rank);
  }
  std::vector<RankId> idle = TrulyIdle(s);
  // Most of the job outside of communication is no hang of each of them.
  const bool most = 2 * idle.size() > s.view.world_size && s.view.world_size > 2;
  if (suspects.empty() && most) {
    findings.abstained.push_back(
        {kWhoHoldsUp, "what " + RanksInWords(idle) +
                          " do: more than half of the job is outside of communication"});
    return {};
  }
  std::erase_if(idle, [&](RankId rank) {
    return CauseOf(FactsOf(s.view, rank)) != Cause::kNonCommunicationHang;
  });
  std::vector<RankId> behind;
  std::copy_if(idle.begin(), idle.end(), std::back_inserter(behind),
               [&](RankId rank) { return LeftBehindIn(s.graph, rank) != nullptr; });
  std::erase_if(idle, [&](RankId rank) { return LeftBehindIn(s.graph, rank) != nullptr; });
  if (!behind.empty()) suspects[Cause::kCommunicationHang] = std::move(behind);
  // Beside a halted process the others may be idle only in what the record shows.
  if (!idle.empty() && (suspects.empty() || !s.point_to_point_hidden())) {
    suspects[Cause::kNonCommunicationHang] = std::move(idle);
  }
  std::vector<Verdict> verdicts;
  for (auto& [cause, ranks] : suspects) verdicts.push_back(Convict(s, cause, std::move(ranks)));
  return verdicts;
}

}  // namespace fathom::diagnosis::records
