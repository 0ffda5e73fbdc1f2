#include "diagnosis/hang/place/stuck_job.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/evidence/cost.h"
#include "diagnosis/hang/place/stack_clusters.h"
#include "diagnosis/hang/place/stuck_communication.h"
#include "diagnosis/hang/place/wait_chain.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kWaitsShown = 3;

std::vector<RankId> WaitersBeside(const WaitFor& graph, const std::vector<RankId>& culprits) {
  std::vector<RankId> waiters;
  for (RankId rank : graph.waiting) {
    if (!Contains(culprits, rank)) waiters.push_back(rank);
  }
  return waiters;
}

// The stuck ops as waits, receives among them.
std::vector<Wait> WaitsOf(const WaitFor& graph) {
  std::vector<Wait> waits;
  for (const StuckInstance& stuck : graph.instances) {
    if (stuck.inside.empty()) continue;
    const OpenOp& first = stuck.inside.begin()->second;
    Wait wait{stuck.group, first.kind, kNoWaitNumber, {}, Inside(stuck), stuck.held_by};
    if (stuck.sequence != kNoSequence)
      wait.number = static_cast<std::int64_t>(stuck.sequence.value);
    for (const auto& [rank, op] : stuck.inside) wait.waited = std::max(wait.waited, op.age);
    waits.push_back(std::move(wait));
  }
  for (const StuckMessage& message : graph.messages) {
    if (!graph.WaitsInMessage(message.rank, message.op.peer)) continue;
    waits.push_back(
        {{}, message.op.kind, kNoWaitNumber, message.op.age, {message.rank}, {message.op.peer}});
  }
  return waits;
}

// Who waits for whom, in which group, at which op: the largest instances first.
void AddWaits(const StuckJob& job, Verdict& verdict) {
  std::vector<const StuckInstance*> held;
  for (const StuckInstance& stuck : job.graph.instances) {
    if (!stuck.missing.empty()) held.push_back(&stuck);
  }
  std::stable_sort(held.begin(), held.end(), [](const auto* a, const auto* b) {
    return a->inside.size() > b->inside.size();
  });
  for (std::size_t i = 0; i < std::min(kWaitsShown, held.size()); ++i) {
    const StuckInstance& stuck = *held[i];
    const OpenOp& op = stuck.inside.begin()->second;
    std::string text = RanksAtStart(Inside(stuck));
    absl::StrAppend(&text, stuck.inside.size() == 1 ? " waits" : " wait", " in ",
                    std::string(CollectiveKindName(op.kind)), " ", stuck.sequence.value, " of ",
                    GroupName(job.c.view, stuck.group), " for ", RanksInWords(stuck.missing));
    verdict.evidence.push_back({std::move(text), op.age.Seconds(), "s", 0, "open ops"});
  }
}

}  // namespace

Nanos StuckFor(const StuckJob& job) {
  Nanos longest;
  for (RankId rank : job.graph.waiting) {
    for (const OpenOp& op : FactsOf(job.c.view, rank)->open_ops) {
      longest = std::max(longest, op.age);
    }
  }
  return longest;
}

Verdict BaseVerdict(const StuckJob& job, Cause cause, std::vector<RankId> ranks) {
  const JobView& view = job.c.view;
  Verdict verdict;
  verdict.cause = cause;
  verdict.problem = ClassOf(cause);
  verdict.owner = OwnerOf(cause);
  verdict.entity.type = ranks.size() == 1 ? EntityType::kRank : EntityType::kGroup;
  verdict.entity.ranks = std::move(ranks);
  if (verdict.entity.ranks.size() == 1) {
    verdict.entity.node = NodeOf(view, verdict.entity.ranks.front());
  }
  const Nanos stuck = StuckFor(job);
  if (!view.window.empty()) {
    verdict.since_iteration = Iteration(view.window.back().index.value + 1);
  }
  if (view.now.known()) verdict.since_time = view.now - stuck;
  verdict.cost = CostOfHang(view, stuck);
  verdict.victims = WaitersBeside(job.graph, verdict.entity.ranks);
  if (!verdict.victims.empty()) {
    verdict.evidence.push_back(
        {absl::StrFormat("Ranks %s wait in communication.", RankList(verdict.victims)),
         stuck.Seconds(), "s", 0, "open ops"});
  }
  AddWaits(job, verdict);
  verdict.stacks = ClusterStacks(view, verdict.entity.ranks);
  verdict.waits = ChainBehind(view, verdict.entity.ranks, WaitsOf(job.graph));
  return verdict;
}

}  // namespace fathom::diagnosis
