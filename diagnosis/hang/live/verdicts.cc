#include "diagnosis/hang/live/verdicts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "diagnosis/hang/live/recent_use.h"
#include "diagnosis/hang/live/suspect.h"
#include "diagnosis/hang/order/order_words.h"
#include "diagnosis/hang/place/meeting_place.h"
#include "diagnosis/hang/place/stuck_communication.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/watch/stall.h"
#include "diagnosis/wording/command.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kWaitsShown = 3;

// "rank 0 is in send to rank 1": the message in which it waits for another of the ring, or its op.
std::string WaitInWords(const StuckJob& job, RankId rank, const std::vector<RankId>& ring) {
  for (const StuckMessage& message : job.graph.messages) {
    if (message.rank != rank || message.answered || !Contains(ring, message.op.peer)) continue;
    const OpStep step{message.op.group, message.op.kind, message.op.bytes, message.op.peer};
    return absl::StrCat("rank ", rank.value, " is in ", InWords(job.c.view, step));
  }
  const auto at = job.graph.inside_of.find(rank);
  if (at == job.graph.inside_of.end()) return absl::StrCat("rank ", rank.value, " waits");
  const StuckInstance& stuck = job.graph.instances[at->second.front()];
  const OpStep step{stuck.group, stuck.inside.at(rank).kind, 0, kNoRank};
  return absl::StrCat("rank ", rank.value, " is in ", InWords(job.c.view, step));
}

Owner OwnerOf(Occupation occupation) {
  switch (occupation) {
    case Occupation::kLooping:
      return Owner::kAlgorithm;
    case Occupation::kUninterruptible:
    case Occupation::kOnStorage:
    case Occupation::kFrozen:
      return Owner::kOperations;
    default:
      return Owner::kInfrastructure;
  }
}

std::string Where(const RankFacts& facts) {
  // The innermost frame that has a name: those of libc's own functions are stripped.
  const auto& frames = facts.stack.frames;
  const auto named = std::find_if(frames.begin(), frames.end(), [](const std::string& frame) {
    return !frame.starts_with("? (");
  });
  return named == frames.end() ? "" : absl::StrCat(", in ", *named, ",");
}

void AdviseToEnd(const RankFacts& facts, Verdict& verdict) {
  verdict.action_text =
      "Take the stacks of this process, then end it: the launcher ends the others and starts again "
      "from the last checkpoint.";
  verdict.action_command = CommandOnProcess("py-spy dump --pid PID; kill -KILL PID", &facts);
  AdviseWhereToRun(facts.node, verdict);
}

std::string InWords(const Call& call) {
  std::string words(CollectiveKindName(call.kind));
  if (call.bytes != 0) absl::StrAppend(&words, " of ", call.bytes, " bytes");
  if (call.type != DataType::kUnknown)
    absl::StrAppend(&words, " of ", std::string(DataTypeName(call.type)));
  if (call.root != kNoRank) absl::StrAppend(&words, " with root ", call.root.value);
  return words;
}

void AdviseToCompare(const JobView& view, Verdict& verdict) {
  verdict.action_text = "Compare what these ranks run before this call; their code took two ways.";
  verdict.action_command =
      CommandOnProcess("py-spy dump --pid PID", FactsOf(view, verdict.entity.ranks.front()));
}

void DescribePaths(const TroubledPaths& found, Verdict& verdict) {
  for (const auto& [path, transfer] : found.transfers) {
    verdict.evidence.push_back(
        {absl::StrFormat("Of what rank %d sends to rank %d on channel %d the network has taken %d "
                         "of %d steps and %d have arrived, unchanged for %s.",
                         transfer.sender.value, transfer.receiver.value, transfer.channel,
                         transfer.taken, transfer.steps, transfer.arrived,
                         Duration(transfer.still_for.Seconds())),
         static_cast<double>(transfer.arrived), "steps", static_cast<double>(transfer.taken),
         "NCCL transfers"});
  }
  for (const auto& [a, b] : found.paths) {
    if (found.transfers.contains({a, b})) continue;
    verdict.evidence.push_back(
        {absl::StrFormat("Between ranks %d and %d bytes are sent again and again, unconfirmed.",
                         a.value, b.value),
         1, "path", 0, "sock_diag"});
  }
  for (const RankId rank : found.deaf) {
    verdict.evidence.push_back(
        {absl::StrFormat("Rank %d does not read what has arrived for it.", rank.value), 1, "rank",
         0, "sock_diag"});
  }
}

// Where the op does not move, as far as the sockets of its members show.
MeetingPlace PlaceOf(const JobView& view, const TroubledPaths& found) {
  const bool one_deaf = found.paths.empty() && found.deaf.size() == 1;
  if (one_deaf) return {MeetingPlace::Kind::kRank, {*found.deaf.begin()}, {}};
  return WherePathsMeet(view, found);
}

// Narrows a verdict down to where paths meet.
void AddPlace(const StuckJob& job, const MeetingPlace& place, const TroubledPaths& found,
              Verdict& verdict) {
  DescribePaths(found, verdict);
  if (place.kind == MeetingPlace::Kind::kNone) {
    AdviseOnConnections(verdict);
    return;
  }
  NamePlace(job.c.view, place, verdict);
  absl::StrAppend(&verdict.sentence, " ",
                  found.deaf.empty() ? InWords(place)
                                     : absl::StrCat("What the others sent lies unread at rank ",
                                                    place.ranks[0].value, "."));
}

Cause CauseOfSlow(Occupation occupation, const RankFacts& facts) {
  if (occupation == Occupation::kLoadingData) return Cause::kDataLoader;
  return facts.open_mark == "gc" ? Cause::kGc : Cause::kHostSlow;
}

// A mark tells that what takes long was begun, not that it goes on: its patience counts.
Grade GradeOfSlow(const StuckJob& job, const RankFacts& facts, Occupation occupation) {
  switch (occupation) {
    case Occupation::kLoadingData:
      return GradeOfHang(job, facts, facts.silent_for, Occupation::kBlocked);
    case Occupation::kInLongStep:
      return GradeOfHang(job, facts, facts.silent_for, occupation);
    default:
      return Grade::kHypothesis;  // what visibly works goes on, sooner or later
  }
}

// Since when it is in what it said it began, else since when it is silent.
Nanos InThatFor(const RankFacts& facts) {
  return facts.in_mark_for.count > 0 ? facts.in_mark_for : facts.silent_for;
}

// It works, or is in a step that takes long and ends.
Verdict Slow(const StuckJob& job, const RankFacts& facts, Occupation occupation) {
  Verdict verdict = BaseVerdict(job, CauseOfSlow(occupation, facts), {facts.rank});
  verdict.grade = GradeOfSlow(job, facts, occupation);
  const bool marked = !facts.open_mark.empty();
  const Nanos since = marked ? InThatFor(facts) : facts.silent_for;
  verdict.sentence = absl::StrFormat(
      "%s %s outside of any communication%s since %s ago; ranks %s "
      "wait for it.",
      RankName(job.c.view, facts.rank), InWords(occupation, facts), Where(facts),
      Duration(since.Seconds()), RankList(verdict.victims));
  if (marked) {
    verdict.evidence.push_back(
        {absl::StrCat("What it began and has not ended: ", facts.open_mark, "."), since.Seconds(),
         "s", facts.typical_iteration.Seconds(), "python marks"});
  }
  DescribeSuspect(occupation, facts, job.c.config, verdict);
  verdict.would_change.push_back(occupation == Occupation::kLoadingData
                                     ? "The batch comes."
                                     : "It stops working, and still does not enter.");
  AdviseOnRank(job.c.view, facts.rank, verdict);
  return verdict;
}

}  // namespace

bool IsHalted(const RankFacts& facts) {
  return facts.state == ProcessState::kStopped || facts.state == ProcessState::kTraced ||
         facts.frozen;
}

Grade GradeOfHang(const StuckJob& job, const RankFacts& facts, Nanos time, Occupation occupation) {
  const DiagnosisConfig& config = job.c.config;
  const Nanos usual = StallThreshold(facts, job.longest_iteration, config);
  const double ratio = time.Seconds() / (usual.Seconds() * PatienceWith(occupation, config));
  if (ratio >= config.hang_established_factor) return Grade::kEstablished;
  return ratio >= config.hang_supported_factor ? Grade::kSupported : Grade::kHypothesis;
}

Verdict ConvictDead(const StuckJob& job, const RankFacts& facts,
                    const std::vector<RankId>& others_dead) {
  Verdict verdict = BaseVerdict(job, Cause::kProcessDead, {facts.rank});
  verdict.grade = Grade::kEstablished;
  const std::string end = EndInWords(facts);
  verdict.sentence = absl::StrFormat("The process of %s %s", RankName(job.c.view, facts.rank),
                                     end.empty() ? std::string("is gone") : end);
  std::vector<RankId> followed = others_dead;
  std::erase(followed, facts.rank);
  if (!verdict.victims.empty()) {
    absl::StrAppend(&verdict.sentence, "; ranks ", RankList(verdict.victims), " wait for it");
  }
  if (!followed.empty()) {
    absl::StrAppend(&verdict.sentence, "; ", RanksInWords(followed), " went down after it");
    verdict.victims.insert(verdict.victims.end(), followed.begin(), followed.end());
    std::sort(verdict.victims.begin(), verdict.victims.end());
    const auto last = std::unique(verdict.victims.begin(), verdict.victims.end());
    verdict.victims.erase(last, verdict.victims.end());
  }
  verdict.sentence += '.';
  if (facts.gone_at.known()) verdict.since_time = facts.gone_at;
  if (facts.oom_kills > 0) {
    verdict.evidence.push_back({"Its control group ran out of memory and had a process killed.",
                                static_cast<double>(facts.oom_kills), "kills", 0, "cgroup"});
  }
  verdict.would_change.push_back("A process of this rank that is still there.");
  AdviseOnRank(job.c.view, facts.rank, verdict);
  return verdict;
}

Verdict ConvictHalted(const StuckJob& job, const RankFacts& facts) {
  Verdict verdict = BaseVerdict(job, Cause::kProcessStopped, {facts.rank});
  const bool traced = facts.state == ProcessState::kTraced;
  const std::string how = facts.frozen ? "frozen by its control group"
                          : traced     ? "held by a debugger"
                                       : "stopped by a signal";
  verdict.grade = traced ? Grade::kHypothesis : Grade::kEstablished;
  verdict.evidence.push_back(
      {absl::StrCat("Its process is ", how, "."), facts.silent_for.Seconds(), "s", 0, "/proc"});
  verdict.sentence = absl::StrFormat(
      "%s is %s and silent for %s; ranks %s wait for it.", RankName(job.c.view, facts.rank), how,
      Duration(facts.silent_for.Seconds()), RankList(verdict.victims));
  verdict.would_change.push_back("The process runs again.");
  AdviseOnRank(job.c.view, facts.rank, verdict);
  if (facts.frozen) {
    verdict.action_text = "Its control group is frozen. Find who froze it; let it go on.";
    verdict.action_command = absl::StrCat("cat /proc/", facts.pid, "/cgroup");
  }
  return verdict;
}

Verdict ConvictAbsent(const StuckJob& job, const RankFacts& facts) {
  const Occupation occupation = OccupationOf(facts, job.c.config);
  if (IsSlowOnly(occupation)) return Slow(job, facts, occupation);
  Verdict verdict = BaseVerdict(job, Cause::kNonCommunicationHang, {facts.rank});
  verdict.grade = GradeOfHang(job, facts, IdleFor(facts, job.c.config), occupation);
  verdict.owner = OwnerOf(occupation);
  verdict.evidence.push_back({"It is silent for this long, against its usual iteration.",
                              facts.silent_for.Seconds(), "s", facts.typical_iteration.Seconds(),
                              "heartbeat"});
  verdict.sentence = absl::StrFormat(
      "%s has not entered the communication in which ranks %s have waited for %s: it %s outside of "
      "any communication%s.",
      RankName(job.c.view, facts.rank), RankList(verdict.victims),
      Duration(StuckFor(job).Seconds()), absl::StrCat(InWords(occupation, facts), Where(facts)),
      verdict.grade == Grade::kHypothesis ? "; it may still be at work" : "");
  DescribeSuspect(occupation, facts, job.c.config, verdict);
  verdict.would_change.push_back("It enters the communication after all.");
  AdviseToEnd(facts, verdict);
  return verdict;
}

Verdict ConvictMismatch(const StuckJob& job, const Mismatch& found) {
  const bool named = !found.odd.empty();
  Verdict verdict = BaseVerdict(job, Cause::kMismatch, named ? found.odd : found.others);
  verdict.grade = named && found.habit == 0 ? Grade::kEstablished : Grade::kSupported;
  verdict.victims = named ? found.others : std::vector<RankId>{};
  verdict.sentence =
      named ? absl::StrFormat(
                  "Rank%s %s called %s where ranks %s called %s (the same place in the "
                  "order of group calls).",
                  found.odd.size() == 1 ? "" : "s", RankList(found.odd), InWords(found.odd_call),
                  RankList(found.others), InWords(found.other_call))
            : absl::StrFormat("Ranks %s do not agree on a collective: %s against %s.",
                              RankList(found.others), InWords(found.odd_call),
                              InWords(found.other_call));
  verdict.evidence.push_back({"Calls at the same sequence number of the group differ.",
                              static_cast<double>(found.sequence.value), "sequence", 0,
                              "open ops"});
  if (found.habit > 0) {
    verdict.evidence.push_back(
        {"Times that it called what the others called before; they did so now too.",
         static_cast<double>(found.habit), "times", 0, "rows"});
  }
  verdict.would_change.push_back("Group calls that are numbered differently on these ranks.");
  AdviseToCompare(job.c.view, verdict);
  return verdict;
}

Verdict ConvictOrder(const StuckJob& job, const OrderBreak& found, const std::vector<RankId>& ring,
                     const Orders& orders) {
  const JobView& view = job.c.view;
  Verdict verdict = BaseVerdict(job, Cause::kMismatch, {found.rank});
  verdict.grade = Grade::kSupported;
  verdict.sentence = absl::StrFormat(
      "%s entered %s where it had always entered %s: it left out an op or changed the order. "
      "That closed a ring of waits, in which or behind which ranks %s stand.",
      RankName(view, found.rank), InWords(view, found.did), InWords(view, found.usual),
      RankList(verdict.victims));
  verdict.evidence.push_back({"Times that the other op followed in the last iterations.",
                              static_cast<double>(found.times), "times", 0, "rows"});
  AddOrders(view, orders, ring, "rows", verdict);
  verdict.would_change.push_back("Another rank of the ring that changed its order before.");
  AdviseToCompare(view, verdict);
  return verdict;
}

Verdict ConvictMessages(const StuckJob& job, const std::vector<RankId>& ring, const Orders& orders,
                        Grade grade) {
  const JobView& view = job.c.view;
  Verdict verdict = BaseVerdict(job, Cause::kMismatch, ring);
  verdict.grade = grade;
  std::vector<std::string> waits;
  for (const RankId rank : ring) {
    if (waits.size() < kWaitsShown) waits.push_back(WaitInWords(job, rank, ring));
  }
  verdict.sentence =
      absl::StrFormat("Ranks %s wait for one another in sends and receives that cannot meet: %s.",
                      RankList(ring), absl::StrJoin(waits, ", "));
  AddOrders(view, orders, ring, "rows", verdict);
  verdict.counter_evidence.push_back(
      {"One of the two orders is right; which one, these ranks' habits do not show.",
       static_cast<double>(ring.size()), "ranks", 0, "rows"});
  verdict.would_change.push_back("A message of theirs that is still on its way.");
  AdviseToCompare(view, verdict);
  return verdict;
}

Verdict ConvictCommunication(const StuckJob& job, const StuckInstance& stuck,
                             const TroubledPaths& found) {
  const std::vector<RankId> ranks = Inside(stuck);
  const TroubledPaths among = found.Among(ranks);
  const MeetingPlace place = PlaceOf(job.c.view, among);
  const bool whole = place.kind == MeetingPlace::Kind::kNone;
  Verdict verdict = BaseVerdict(job, Cause::kCommunicationHang, whole ? ranks : place.ranks);
  verdict.entity.type = EntityType::kGroup;
  verdict.grade = Grade::kSupported;
  verdict.sentence = absl::StrFormat(
      "Ranks %s have all entered the same %s and none gets out of it, for %s: the communication "
      "itself is stuck.",
      RankList(ranks), std::string(CollectiveKindName(stuck.inside.begin()->second.kind)),
      Duration(StuckFor(job).Seconds()));
  verdict.evidence.push_back(
      {absl::StrCat("Members of ", GroupName(job.c.view, stuck.group), " inside ",
                    std::string(CollectiveKindName(stuck.inside.begin()->second.kind)),
                    stuck.sequence == kNoSequence ? "" : absl::StrCat(" ", stuck.sequence.value),
                    ": all, and none has left it."),
       static_cast<double>(ranks.size()), "ranks", static_cast<double>(ranks.size()), "open ops"});
  verdict.would_change.push_back("A member that is stopped, or has not entered it.");
  AddPlace(job, place, among, verdict);
  return verdict;
}

Verdict ConvictPlace(const StuckJob& job, const MeetingPlace& place, const TroubledPaths& found) {
  Verdict verdict = BaseVerdict(job, Cause::kCommunicationHang, place.ranks);
  verdict.grade = Grade::kSupported;
  verdict.sentence = absl::StrFormat("Ranks %s have waited in communication for %s.",
                                     RankList({job.graph.waiting.begin(), job.graph.waiting.end()}),
                                     Duration(StuckFor(job).Seconds()));
  AddPlace(job, place, found, verdict);
  return verdict;
}

Verdict LeadOnCutOff(const StuckJob& job, const CutOffNode& cut) {
  Verdict verdict = BaseVerdict(job, Cause::kCommunicationHang, cut.ranks);
  verdict.grade = Grade::kHypothesis;
  verdict.entity.type = EntityType::kHost;
  verdict.entity.node = cut.node;
  verdict.sentence = absl::StrFormat(
      "Node %s cannot be reached, and for %s all ranks of the other nodes have waited for its "
      "ranks (%s), or may have: it may be down or cut off, or its agent is gone and one of them "
      "hangs or works for long (checkpoint, evaluation), or all are inside and the communication "
      "is stuck.",
      cut.node, Duration(StuckFor(job).Seconds()), RankList(cut.ranks));
  verdict.evidence.push_back({"Ranks in reach that wait in communication, of all that are.",
                              static_cast<double>(verdict.victims.size()), "ranks",
                              static_cast<double>(job.c.view.ranks.size() - cut.ranks.size()),
                              "open ops"});
  verdict.counter_evidence.push_back(
      {"Its agent is out of reach: what its ranks do is not known. They may work, or wait inside "
       "the same ops.",
       0, "", 0, "agents"});
  verdict.would_change.push_back("The agent of the node, back with what its ranks do.");
  verdict.action_text = absl::StrCat("See whether ", cut.node, " is up and can be reached.");
  verdict.action_command = CommandWith("ping -c 3 ", cut.node);
  return verdict;
}

}  // namespace fathom::diagnosis
