#include "diagnosis/hang/live/ended_node.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/hang/live/suspect.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/watch/stall.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr int kInterrupt = 2, kTerminate = 15;

bool OrderedFromOutside(const RankFacts& facts) {
  const int signal = facts.wait_status ? *facts.wait_status & 0x7f : 0;
  return signal == kInterrupt || signal == kTerminate;
}

// A rank that lives has waited in communication since the last of them went.
bool OthersWaitSince(const StuckJob& job, WallNs last) {
  const Nanos since = job.c.view.now - last;
  if (!last.known() || since < job.c.config.stall_floor) return false;
  return std::any_of(job.graph.waiting.begin(), job.graph.waiting.end(), [&](RankId rank) {
    const RankFacts& facts = *FactsOf(job.c.view, rank);
    return facts.agent_reachable && !IsDead(facts);
  });
}

}  // namespace

std::optional<EndedNode> FindEndedNode(const StuckJob& job) {
  EndedNode ended;
  WallNs last;
  for (const RankFacts& facts : job.c.view.ranks) {
    if (!IsDead(facts)) continue;
    const bool first = ended.ranks.empty();
    if (!OrderedFromOutside(facts) || (!first && facts.node != ended.node)) return std::nullopt;
    ended.node = facts.node;
    ended.ranks.push_back(facts.rank);
    if (first || facts.gone_at > last) last = facts.gone_at;
  }
  const auto lives_there = [&](const RankFacts& facts) {
    return facts.node == ended.node && !IsDead(facts);
  };
  const auto& ranks = job.c.view.ranks;
  if (ended.node.empty() || std::any_of(ranks.begin(), ranks.end(), lives_there)) {
    return std::nullopt;
  }
  if (!OthersWaitSince(job, last)) return std::nullopt;
  return ended;
}

Verdict ConvictEndedNode(const StuckJob& job, const EndedNode& ended) {
  Verdict verdict = BaseVerdict(job, Cause::kProcessDead, ended.ranks);
  verdict.grade = Grade::kSupported;
  verdict.entity.type = EntityType::kHost;
  verdict.entity.node = ended.node;
  const RankFacts& first = *FactsOf(job.c.view, ended.ranks.front());
  verdict.since_time = first.gone_at;
  verdict.sentence = absl::StrFormat(
      "All of node %s %s (%s), and nothing else of the job: ranks %s wait for it.", ended.node,
      EndInWords(first), RanksInWords(ended.ranks), RankList(verdict.victims));
  verdict.counter_evidence.push_back(
      {"Who ordered it, and why, is not seen: its launcher may have "
       "done so after a failure of its own.",
       static_cast<double>(ended.ranks.size()), "ranks", 0, "exit status"});
  verdict.would_change.push_back("Ranks of other nodes that are ended, too: the job was stopped.");
  verdict.action_text =
      absl::StrCat("See who drained ", ended.node,
                   ", then end the rest: the launcher starts again from the last checkpoint.");
  return verdict;
}

}  // namespace fathom::diagnosis
