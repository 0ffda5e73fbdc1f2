#include "diagnosis/hang/live/hang.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "diagnosis/graph/wait_for.h"
#include "diagnosis/hang/live/cut_off.h"
#include "diagnosis/hang/live/death.h"
#include "diagnosis/hang/live/ended_node.h"
#include "diagnosis/hang/live/lagging.h"
#include "diagnosis/hang/live/left_behind.h"
#include "diagnosis/hang/live/rendezvous.h"
#include "diagnosis/hang/live/verdicts.h"
#include "diagnosis/hang/order/crossed_ops.h"
#include "diagnosis/hang/order/mismatch.h"
#include "diagnosis/hang/order/order_words.h"
#include "diagnosis/hang/order/program_order.h"
#include "diagnosis/hang/place/stuck_communication.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/watch/stall.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr char kQuestion[] = "why the job stands still";

void Abstain(Findings& out, std::string missing) {
  out.abstained.push_back({kQuestion, std::move(missing)});
}

// ": the agent of a is out of reach", of the nodes of those ranks; empty if all are in reach.
std::string OutOfReach(const JobView& view, const std::vector<RankId>& ranks) {
  std::set<std::string> nodes;
  for (const RankId rank : ranks) {
    const RankFacts* facts = FactsOf(view, rank);
    if (facts != nullptr && !facts->agent_reachable) nodes.insert(facts->node);
  }
  if (nodes.empty()) return "";
  if (nodes.size() > 1) {
    return absl::StrCat(": the agents of ", nodes.size(), " nodes are out of reach, ",
                        *nodes.begin(), " and others");
  }
  return absl::StrCat(": the agent of ", nodes.begin()->empty() ? "its node" : *nodes.begin(),
                      " is out of reach");
}

// What the ranks that the others wait for turn out to be.
struct Ends {
  std::vector<Verdict> halted, absent;
  std::set<const StuckInstance*> stuck;  // ops that some of them are inside of, with all members
  std::vector<RankId> inside;            // of an op of which some members cannot be seen
  std::vector<RankId> elsewhere;         // go on with other ops
};

// Whether it records ops all the while: of others than those that are waited in.
bool GoesOn(const RankFacts& facts, const DiagnosisConfig& config) {
  return facts.newest_group.has_value() && facts.silent_for < config.stall_floor;
}

void JudgeSink(const StuckJob& job, RankId rank, Ends& ends, Findings& out) {
  const Case& c = job.c;
  const RankFacts& facts = *FactsOf(c.view, rank);
  if (job.graph.waiting.contains(rank) && !IsHalted(facts) && !IsDead(facts)) {
    const StuckInstance* stuck = StuckAround(c.view, job.graph, rank);
    if (stuck != nullptr) {
      ends.stuck.insert(stuck);
    } else {
      ends.inside.push_back(rank);
    }
  } else if (!facts.agent_reachable) {
    Abstain(out, absl::StrCat("what rank ", rank.value, " does", OutOfReach(c.view, {rank})));
  } else if (IsDead(facts)) {
    // It left in order, but others still count on it.
    ends.halted.push_back(ConvictDead(job, facts, {}));
  } else if (IsHalted(facts)) {
    ends.halted.push_back(ConvictHalted(job, facts));
  } else if (IsStalled(facts, job.longest_iteration, c.config)) {
    ends.absent.push_back(ConvictAbsent(job, facts));
  } else if (GoesOn(facts, c.config)) {
    ends.elsewhere.push_back(rank);
  }
}

// Ranks that did not come to an op and go on with others: in another branch of the program, or on
// their way. Nobody is accused of either.
void SayWhoGoesOn(const StuckJob& job, const std::vector<RankId>& elsewhere, Findings& out) {
  for (const RankId rank : elsewhere) {
    const RankFacts& facts = *FactsOf(job.c.view, rank);
    for (const StuckInstance& stuck : job.graph.instances) {
      if (!Contains(stuck.missing, rank)) continue;
      Abstain(out, absl::StrCat(
                       "why rank ", rank.value, " goes on with ops of ",
                       GroupName(job.c.view, *facts.newest_group), " and does not enter the ",
                       std::string(CollectiveKindName(stuck.inside.begin()->second.kind)), " of ",
                       GroupName(job.c.view, stuck.group), " in which ",
                       RanksInWords(Inside(stuck)), stuck.inside.size() == 1 ? " waits" : " wait",
                       ": it may have taken another way through the program"));
      break;
    }
  }
}

// What does not move has one place in common. False: it has not.
bool JudgeMeeting(const StuckJob& job, const MeetingPlace& place, const TroubledPaths& found,
                  Findings& out) {
  if (place.kind == MeetingPlace::Kind::kNone) return false;
  out.verdicts.push_back(ConvictPlace(job, place, found));
  return true;
}

// All that is stuck has one rank or node in common. False: it has not.
bool JudgePlace(const StuckJob& job, const std::set<const StuckInstance*>& stuck,
                const TroubledPaths& found, Findings& out) {
  const std::vector<Piece> pieces = StuckPieces(found, stuck);
  const bool paths_only = pieces.size() == found.paths.size();
  if (!found.deaf.empty() || pieces.size() < 2) return false;
  const auto fewest = static_cast<std::size_t>(job.c.config.common_ops);
  if (!paths_only && pieces.size() < fewest) return false;
  return JudgeMeeting(job, WhereTheyMeet(job.c.view, pieces), found, out);
}

// Without the ops whose transfers still move: they are slow, not stuck.
std::set<const StuckInstance*> WithoutMoving(const StuckJob& job,
                                             std::set<const StuckInstance*> stuck, Findings& out) {
  const MovingOps moving = FindMovingOps(job.c.view, job.c.config);
  const std::size_t moved = std::erase_if(stuck, [&](const StuckInstance* instance) {
    return moving.contains({instance->group, instance->sequence});
  });
  if (moved > 0) {
    Abstain(out, absl::StrCat("whether ", moved, moved == 1 ? " op" : " ops",
                              " that all have entered will end: steps between ranks still move, "
                              "or have not been watched for long enough"));
  }
  return stuck;
}

void JudgeStuck(const StuckJob& job, std::set<const StuckInstance*> stuck, Findings& out) {
  stuck = WithoutMoving(job, std::move(stuck), out);
  if (stuck.empty()) return;
  const TroubledPaths found = FindTroubledPaths(job.c.view, job.c.config);
  if (JudgePlace(job, stuck, found, out)) return;
  if (stuck.size() > static_cast<std::size_t>(job.c.config.stuck_at_once)) {
    return Abstain(out, absl::StrCat("what ", stuck.size(),
                                     " communicators that are stuck at once have in common"));
  }
  for (const StuckInstance& instance : job.graph.instances) {
    if (!stuck.contains(&instance)) continue;
    out.verdicts.push_back(ConvictCommunication(job, instance, found));
  }
}

// Paths that move nothing under messages. False: there are none.
bool JudgeMessagePaths(const StuckJob& job, Findings& out) {
  const TroubledPaths found = FindTroubledPaths(job.c.view, job.c.config);
  return JudgeMeeting(job, WherePathsMeet(job.c.view, found), found, out);
}

// A device that has not begun what those of the others have. False: there is none.
bool JudgeLagging(const StuckJob& job, Findings& out) {
  const auto lagging = FindLagging(job);
  if (lagging) out.verdicts.push_back(ConvictLagging(job, *lagging));
  return lagging.has_value();
}

bool IsAnswered(const WaitFor& graph, RankId rank) {
  return std::any_of(
      graph.messages.begin(), graph.messages.end(),
      [&](const StuckMessage& message) { return message.rank == rank && message.answered; });
}

// Members of their ops of which it is not known whether they have entered.
std::vector<RankId> UnknownBeside(const WaitFor& graph, const std::vector<RankId>& inside) {
  std::vector<RankId> unknown;
  for (const RankId rank : inside) {
    const auto at = graph.inside_of.find(rank);
    if (at == graph.inside_of.end()) continue;
    for (const std::size_t i : at->second) {
      const auto& members = graph.instances[i].unknown;
      unknown.insert(unknown.end(), members.begin(), members.end());
    }
  }
  return unknown;
}

// Ranks that wait for nobody that is known, inside of an op.
void JudgeHeldInside(const StuckJob& job, const std::vector<RankId>& inside, bool alone,
                     Findings& out) {
  if (alone && (JudgeLagging(job, out) || JudgeMessagePaths(job, out))) return;
  const bool messages = std::all_of(inside.begin(), inside.end(),
                                    [&](RankId rank) { return IsAnswered(job.graph, rank); });
  const std::string ranks =
      absl::StrCat(RanksInWords(inside), inside.size() == 1 ? " is inside of" : " are inside of");
  Abstain(out, messages ? absl::StrCat("why the message that ", ranks,
                                       " does not move: both ends are there (their tags, or the "
                                       "state of the transport)")
                        : absl::StrCat("who holds up the op that ", ranks,
                                       OutOfReach(job.c.view, UnknownBeside(job.graph, inside))));
}

// Verdicts on the ranks that the others wait for. False: there are none.
bool JudgeSinks(const StuckJob& job, Findings& out) {
  const std::vector<RankId> sinks = job.graph.Sinks();
  Ends ends;
  for (RankId rank : sinks) JudgeSink(job, rank, ends, out);
  SayWhoGoesOn(job, ends.elsewhere, out);
  if (!ends.inside.empty()) {
    const bool alone = ends.halted.empty() && ends.absent.empty() && ends.stuck.empty();
    JudgeHeldInside(job, ends.inside, alone, out);
  }
  std::vector<Verdict>& chosen = ends.halted.empty() ? ends.absent : ends.halted;
  const std::size_t ranks = job.c.view.ranks.size();
  if (2 * chosen.size() > ranks && ranks > 1) {
    Abstain(out, "what most ranks do at the same time: they are all outside of communication");
    return true;
  }
  for (Verdict& verdict : chosen) out.verdicts.push_back(std::move(verdict));
  JudgeStuck(job, ends.stuck, out);
  return !sinks.empty();
}

bool AnyMessage(const WaitFor& graph, const std::vector<RankId>& ring) {
  return std::any_of(ring.begin(), ring.end(), [&](RankId waiter) {
    return std::any_of(ring.begin(), ring.end(),
                       [&](RankId other) { return graph.WaitsInMessage(waiter, other); });
  });
}

bool Is(const OpStep& step, const Call& call) {
  return step.kind == call.kind && (call.bytes == 0 || step.bytes == call.bytes) &&
         (call.root == kNoRank || step.peer == call.root);
}

// Without a majority, the one that left its own usual order; where it is not exactly one, as it
// was.
Mismatch WithHabits(const JobView& view, Mismatch found) {
  if (!found.odd.empty()) return found;
  const auto broken = FindOrderBreak(OrdersOf(view), found.others);
  if (!broken || broken->did.group != found.group) return found;
  if (!Is(broken->did, found.odd_call)) std::swap(found.odd_call, found.other_call);
  found.odd = {broken->rank};
  std::erase(found.others, broken->rank);
  found.habit = broken->times;
  return found;
}

// Both of two ranks are inside a message that the other does not answer.
bool OfMessages(const WaitFor& graph, const std::vector<RankId>& ring) {
  return ring.size() == 2 && graph.WaitsInMessage(ring[0], ring[1]) &&
         graph.WaitsInMessage(ring[1], ring[0]);
}

void JudgeRing(const StuckJob& job, Findings& out) {
  const std::vector<RankId> ring = job.graph.Ring();
  if (ring.empty()) {
    return Abstain(out,
                   "why what has come together does not move: both ends of each message that "
                   "is stuck are there (their tags, or the state of the transport)");
  }
  const Orders orders = OrdersOf(job.c.view);
  const auto broken = FindOrderBreak(orders, ring);
  if (broken) {
    out.verdicts.push_back(ConvictOrder(job, *broken, ring, orders));
    return;
  }
  const bool messages = OfMessages(job.graph, ring);
  if (messages || AnyMessage(job.graph, ring)) {
    out.verdicts.push_back(
        ConvictMessages(job, ring, orders, messages ? Grade::kSupported : Grade::kHypothesis));
  }
  if (messages) return;
  Abstain(out, absl::StrCat("an end of the chain of waits: ranks ", RankList(ring),
                            " wait for one another in a circle, and not exactly one of them has "
                            "left its usual order of ops"));
}

void JudgeInside(const StuckJob& job, Findings& out) {
  const StuckInstance* first = nullptr;
  std::set<const StuckInstance*> stuck;
  for (const StuckInstance& instance : job.graph.instances) {
    if (!instance.missing.empty()) continue;
    if (first == nullptr) first = &instance;
    if (HoldsItselfUp(job.c.view, instance)) stuck.insert(&instance);
  }
  if (!stuck.empty()) return JudgeStuck(job, stuck, out);
  if (const auto crossed = FindCrossedOps(job.graph)) {
    out.verdicts.push_back(ConvictCrossed(job, *crossed, OrdersOf(job.c.view)));
    return;
  }
  if (JudgeLagging(job, out) || JudgeMessagePaths(job, out)) return;
  if (first == nullptr) return JudgeRing(job, out);
  if (!first->unknown.empty()) {
    Abstain(out, absl::StrCat("whether ", RanksInWords(first->unknown),
                              first->unknown.size() == 1 ? " has" : " have",
                              " entered the op that others are stuck in",
                              OutOfReach(job.c.view, first->unknown)));
  } else if (first->inside.size() < 2) {
    Abstain(out, "what holds up an op of which no other member is known");
  } else {
    Abstain(out, "what keeps some members from beginning an op that all have entered");
  }
}

// Whether ranks waited for longer than usual when the first of these died.
bool StoodStillBefore(const StuckJob& job, const std::vector<RankId>& dead) {
  WallNs first;
  for (RankId rank : dead) {
    const WallNs gone = FactsOf(job.c.view, rank)->gone_at;
    if (!first.known() || (gone.known() && gone < first)) first = gone;
  }
  if (!first.known()) return false;
  for (RankId rank : job.graph.waiting) {
    const RankFacts& facts = *FactsOf(job.c.view, rank);
    const Nanos since_death = job.c.view.now - first;
    const Nanos before = IsDead(facts) ? Nanos() : since_death;
    for (const OpenOp& op : facts.open_ops) {
      if (op.age > before + job.c.config.stall_floor) return true;
    }
  }
  return false;
}

// The dead explain everything else. False: nobody died.
bool JudgeTheDead(const StuckJob& job, Findings& out) {
  const Deaths deaths = JudgeDeaths(job.c.view, job.c.config);
  if (StoodStillBefore(job, deaths.dead)) {
    Abstain(out,
            absl::StrCat("why the job stood still before ranks ", RankList(deaths.dead), " died"));
    return true;
  }
  for (RankId rank : deaths.culprits) {
    out.verdicts.push_back(ConvictDead(job, *FactsOf(job.c.view, rank), deaths.dead));
    if (deaths.by_elimination) out.verdicts.back().grade = Grade::kSupported;
  }
  if (deaths.missing.empty()) return !deaths.dead.empty();
  if (const auto ended = FindEndedNode(job)) {
    out.verdicts.push_back(ConvictEndedNode(job, *ended));
  } else {
    Abstain(out, deaths.missing);
  }
  return !deaths.dead.empty();
}

// Where nobody is named, a node that is out of reach whole may be why.
void JudgeCutOff(const StuckJob& job, Findings& out) {
  if (const auto cut = FindCutOffNode(job.c.view, job.graph)) {
    out.verdicts.push_back(LeadOnCutOff(job, *cut));
  }
}

bool HasEnteredAny(const RankFacts& facts) {
  return facts.iterations_seen > 0 || facts.recent_pause.count > 0 || !facts.open_ops.empty() ||
         std::any_of(facts.groups.begin(), facts.groups.end(),
                     [](const GroupProgress& progress) { return progress.entered > 0; });
}

// Ranks that have shown nothing, where the others have entered no op so far.
std::vector<RankId> NotYetThere(const JobView& view) {
  std::vector<RankId> absent;
  if (std::any_of(view.ranks.begin(), view.ranks.end(), HasEnteredAny)) return absent;
  for (std::uint32_t rank = 0; rank < view.world_size; ++rank) {
    if (FactsOf(view, RankId(rank)) == nullptr) absent.push_back(RankId(rank));
  }
  return absent;
}

std::string WhyNobodyWaits(const JobView& view) {
  if (!AnyInReach(view)) return "what any rank does: no agent of the job is in reach";
  const std::vector<RankId> absent = NotYetThere(view);
  if (absent.empty()) return "a rank that waits in communication for longer than usual";
  return absl::StrCat("what ", RanksInWords(absent), absent.size() == 1 ? " does" : " do", ": the ",
                      view.ranks.size(), " others of ", view.world_size,
                      " have begun, and entered no op so far; they may wait in "
                      "init_process_group for ",
                      absent.size() == 1 ? "it" : "them");
}

// Nobody is seen to wait.
void JudgeCounts(const StuckJob& job, Findings& out) {
  if (const auto rendezvous = FindRendezvous(job)) {
    JudgeRendezvous(job, *rendezvous, out);
  } else if (const auto behind = FindLeftBehind(job)) {
    out.verdicts.push_back(LeadOnLeftBehind(job, *behind));
  } else {
    Abstain(out, WhyNobodyWaits(job.c.view));
  }
}

void Examine(const Case& c, Findings& out) {
  const std::size_t before = out.verdicts.size();
  const WaitFor graph = BuildWaitFor(c.view, c.config.stall_floor, c.config.message_gap);
  const StuckJob job{c, graph, LongestIteration(c.view)};
  if (const auto mismatch = FindMismatch(c.view)) {
    out.verdicts.push_back(ConvictMismatch(job, WithHabits(c.view, *mismatch)));
  } else if (JudgeTheDead(job, out)) {
    return;
  } else if (graph.waiting.empty()) {
    JudgeCounts(job, out);
  } else if (!JudgeSinks(job, out)) {
    JudgeInside(job, out);
  }
  if (out.verdicts.size() == before) JudgeCutOff(job, out);
}

}  // namespace

Rule HangRule() {
  return {"hang",
          {"communication_ops"},
          kQuestion,
          [](const Suspicion& s) { return s.stalled; },
          Examine};
}

}  // namespace fathom::diagnosis
