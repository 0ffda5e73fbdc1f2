#include "diagnosis/rules/hang.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/engine/stall.h"
#include "diagnosis/evidence/cost.h"
#include "diagnosis/evidence/phrase.h"
#include "diagnosis/graph/wait_for.h"
#include "diagnosis/rules/mismatch.h"

namespace fathom::diagnosis {
namespace {

constexpr char kQuestion[] = "why the job stands still";

void Abstain(Findings& out, std::string missing) {
  out.abstained.push_back({kQuestion, std::move(missing)});
}

// How long the job has been stuck: the longest wait of a rank that waits.
Nanos StuckFor(const Case& c, const WaitFor& graph) {
  Nanos longest;
  for (RankId rank : graph.waiting) {
    for (const OpenOp& op : FactsOf(c.view, rank)->open_ops) longest = std::max(longest, op.age);
  }
  return longest;
}

std::vector<RankId> WaitersOf(const WaitFor& graph, const std::vector<RankId>& culprits) {
  std::vector<RankId> waiters;
  for (RankId rank : graph.waiting) {
    if (std::find(culprits.begin(), culprits.end(), rank) == culprits.end()) {
      waiters.push_back(rank);
    }
  }
  return waiters;
}

Verdict Base(const Case& c, const WaitFor& graph, Cause cause, std::vector<RankId> ranks) {
  Verdict verdict;
  verdict.cause = cause;
  verdict.problem = ClassOf(cause);
  verdict.owner = OwnerOf(cause);
  verdict.entity.type = ranks.size() == 1 ? EntityType::kRank : EntityType::kGroup;
  verdict.entity.ranks = std::move(ranks);
  if (verdict.entity.ranks.size() == 1) {
    const RankFacts* facts = FactsOf(c.view, verdict.entity.ranks.front());
    if (facts != nullptr) verdict.entity.node = facts->node;
  }
  const Nanos stuck = StuckFor(c, graph);
  if (!c.view.window.empty()) {
    verdict.since_iteration = Iteration(c.view.window.back().index.value + 1);
  }
  if (c.view.now.known()) verdict.since_time = c.view.now - stuck;
  verdict.cost = CostOfHang(c.view, stuck);
  verdict.victims = WaitersOf(graph, verdict.entity.ranks);
  verdict.evidence.push_back(
      {absl::StrFormat("Ranks %s wait in communication.", RankList(verdict.victims)),
       stuck.Seconds(), "s", 0, "open ops"});
  return verdict;
}

double CpuRatio(const RankFacts& facts) {
  const double silent = facts.silent_for.Seconds();
  return silent > 0 ? facts.cpu_while_silent.Seconds() / silent : 0;
}

bool IsBusy(const Case& c, const RankFacts& facts) {
  return CpuRatio(facts) >= c.config.busy_ratio || facts.state == ProcessState::kUninterruptible;
}

Grade GradeOfSilence(const Case& c, const RankFacts& facts) {
  const Nanos usual = StallThreshold(facts, LongestIteration(c.view), c.config);
  const double patience = IsBusy(c, facts) ? c.config.busy_patience : 1;
  const double ratio = facts.silent_for.Seconds() / (usual.Seconds() * patience);
  if (ratio >= c.config.hang_established_factor) return Grade::kEstablished;
  return ratio >= c.config.hang_supported_factor ? Grade::kSupported : Grade::kHypothesis;
}

std::string WhatItDoes(const Case& c, const RankFacts& facts) {
  if (facts.state == ProcessState::kUninterruptible) return "is in uninterruptible sleep";
  if (CpuRatio(facts) >= c.config.busy_ratio) return "keeps a core busy";
  return "is idle";
}

Verdict ConvictDead(const Case& c, const WaitFor& graph, const RankFacts& facts) {
  Verdict verdict = Base(c, graph, Cause::kProcessDead, {facts.rank});
  verdict.grade = Grade::kEstablished;
  verdict.sentence = absl::StrFormat(
      "The process of %s is gone%s; ranks %s wait for it.", RankName(c.view, facts.rank),
      facts.exited_orderly ? " (it ended by itself)" : "", RankList(verdict.victims));
  verdict.would_change.push_back("A process of this rank that is still there.");
  AdviseOnRank(c.view, facts.rank, verdict);
  return verdict;
}

Verdict ConvictStopped(const Case& c, const WaitFor& graph, const RankFacts& facts) {
  Verdict verdict = Base(c, graph, Cause::kProcessStopped, {facts.rank});
  verdict.grade = Grade::kEstablished;
  verdict.evidence.push_back(
      {"Its process is in state T (stopped).", facts.silent_for.Seconds(), "s", 0, "/proc"});
  verdict.sentence =
      absl::StrFormat("%s is stopped by a signal and silent for %s; ranks %s wait for it.",
                      RankName(c.view, facts.rank), Duration(facts.silent_for.Seconds()),
                      RankList(verdict.victims));
  verdict.would_change.push_back("The process runs again.");
  AdviseOnRank(c.view, facts.rank, verdict);
  return verdict;
}

Verdict ConvictAbsent(const Case& c, const WaitFor& graph, const RankFacts& facts) {
  Verdict verdict = Base(c, graph, Cause::kNonCommunicationHang, {facts.rank});
  verdict.grade = GradeOfSilence(c, facts);
  verdict.evidence.push_back({"It is silent for this long, against its usual iteration.",
                              facts.silent_for.Seconds(), "s", facts.typical_iteration.Seconds(),
                              "heartbeat"});
  verdict.evidence.push_back({"CPU time of its training thread while silent.",
                              facts.cpu_while_silent.Seconds(), "s", facts.silent_for.Seconds(),
                              "/proc"});
  verdict.sentence = absl::StrFormat(
      "%s has not entered the communication in which ranks %s have waited for %s: it %s outside of "
      "any communication%s.",
      RankName(c.view, facts.rank), RankList(verdict.victims),
      Duration(StuckFor(c, graph).Seconds()), WhatItDoes(c, facts),
      verdict.grade == Grade::kHypothesis ? "; it may still be at work" : "");
  if (IsBusy(c, facts)) {
    verdict.counter_evidence.push_back({"It is busy: a checkpoint or an evaluation looks the same.",
                                        CpuRatio(facts), "ratio", 1, "/proc"});
  }
  verdict.would_change.push_back("It enters the communication after all.");
  AdviseOnRank(c.view, facts.rank, verdict);
  return verdict;
}

std::string InWords(const Call& call) {
  std::string words(CollectiveKindName(call.kind));
  if (call.bytes != 0) absl::StrAppend(&words, " of ", call.bytes, " bytes");
  return words;
}

Verdict ConvictMismatch(const Case& c, const WaitFor& graph, const Mismatch& found) {
  const bool named = !found.odd.empty();
  Verdict verdict = Base(c, graph, Cause::kMismatch, named ? found.odd : found.others);
  verdict.grade = named ? Grade::kEstablished : Grade::kSupported;
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
  verdict.would_change.push_back("Group calls that are numbered differently on these ranks.");
  verdict.action_text = "Compare what these ranks run before this call; their code took two ways.";
  const RankFacts* facts = FactsOf(c.view, verdict.entity.ranks.front());
  verdict.action_command =
      absl::StrCat("py-spy dump --pid ", facts != nullptr ? absl::StrCat(facts->pid) : "PID");
  return verdict;
}

Verdict ConvictCommunication(const Case& c, const WaitFor& graph, const StuckInstance& stuck) {
  std::vector<RankId> ranks;
  for (const auto& [rank, op] : stuck.inside) ranks.push_back(rank);
  Verdict verdict = Base(c, graph, Cause::kCommunicationHang, ranks);
  verdict.entity.type = EntityType::kGroup;
  verdict.grade = Grade::kSupported;
  verdict.victims.clear();
  verdict.sentence = absl::StrFormat(
      "Ranks %s have all entered the same %s and none gets out of it, for %s: the communication "
      "itself is stuck.",
      RankList(ranks), std::string(CollectiveKindName(stuck.inside.begin()->second.kind)),
      Duration(StuckFor(c, graph).Seconds()));
  verdict.would_change.push_back("A member that is stopped, or has not entered it.");
  verdict.action_text = "Look at the connections between these ranks: which one moves no bytes?";
  verdict.action_command = "ss -tinp state established";
  return verdict;
}

// Verdicts on the ranks that the others wait for. False: there are none.
bool JudgeSinks(const Case& c, const WaitFor& graph, Findings& out) {
  const std::vector<RankId> sinks = graph.Sinks();
  std::vector<Verdict> halted, absent;
  for (RankId rank : sinks) {
    const RankFacts& facts = *FactsOf(c.view, rank);
    if (IsDead(facts)) {
      halted.push_back(ConvictDead(c, graph, facts));
    } else if (!facts.agent_reachable) {
      Abstain(out, absl::StrCat("what rank ", rank.value, " does: its agent is out of reach"));
    } else if (facts.state == ProcessState::kStopped) {
      halted.push_back(ConvictStopped(c, graph, facts));
    } else if (IsStalled(facts, LongestIteration(c.view), c.config)) {
      absent.push_back(ConvictAbsent(c, graph, facts));
    }
  }
  std::vector<Verdict>& chosen = halted.empty() ? absent : halted;
  if (2 * chosen.size() > c.view.ranks.size() && c.view.ranks.size() > 1) {
    Abstain(out, "what most ranks do at the same time: they are all outside of communication");
    return true;
  }
  for (Verdict& verdict : chosen) out.verdicts.push_back(std::move(verdict));
  return !sinks.empty();
}

void JudgeInside(const Case& c, const WaitFor& graph, Findings& out) {
  for (const StuckInstance& stuck : graph.instances) {
    if (!stuck.missing.empty()) continue;
    if (!stuck.unknown.empty() || stuck.inside.size() < 2) {
      Abstain(out, absl::StrCat("whether ranks ", RankList(stuck.unknown),
                                " have entered the op that others are stuck in"));
      return;
    }
    out.verdicts.push_back(ConvictCommunication(c, graph, stuck));
    return;
  }
  Abstain(out, "an end of the chain of waits: ranks wait for one another in a circle");
}

void Examine(const Case& c, Findings& out) {
  const WaitFor graph = BuildWaitFor(c.view, c.config.stall_floor);
  if (graph.waiting.empty()) {
    return Abstain(out, "a rank that waits in communication for longer than usual");
  }
  if (const auto mismatch = FindMismatch(c.view)) {
    out.verdicts.push_back(ConvictMismatch(c, graph, *mismatch));
    return;
  }
  if (!JudgeSinks(c, graph, out)) JudgeInside(c, graph, out);
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
