#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "diagnosis/hang/order/order_words.h"
#include "diagnosis/hang/order/program_order.h"
#include "diagnosis/hang/place/troubled_paths.h"
#include "diagnosis/hang/records/situation.h"
#include "diagnosis/hang/records/stopped_job.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis::records {
namespace {

void AdviseOnOrder(Verdict& verdict) {
  verdict.action_text =
      "Compare what these ranks ran before this call with the others: a branch that only some "
      "ranks take, or calls in another order.";
}

Verdict Convict(const Situation& s, const std::vector<Skipped>& skipped) {
  std::vector<RankId> ranks;
  for (const Skipped& odd : skipped) ranks.push_back(odd.rank);
  std::sort(ranks.begin(), ranks.end());
  Verdict verdict = Accuse(s, Cause::kMismatch, ranks);
  verdict.grade = Grade::kEstablished;
  const Skipped& first = skipped.front();
  verdict.sentence = absl::StrFormat(
      "%s left out an op of %s that its peers entered, and went on in %s; %s wait for it in a "
      "ring.",
      RanksAtStart(ranks), absl::StrJoin(first.behind, ", "), absl::StrJoin(first.ahead, ", "),
      RanksInWords(verdict.victims));
  for (const Skipped& odd : skipped) {
    verdict.evidence.push_back(
        {absl::StrFormat("Rank %d is behind in %s and not in %s: an order that no peer shares.",
                         odd.rank.value, absl::StrJoin(odd.behind, ", "),
                         absl::StrJoin(odd.ahead, ", ")),
         static_cast<double>(odd.contradicts), "peers with another order", 0, "flight recorder"});
  }
  AddWaits(s, ranks, verdict);
  AddSites(s, s.sinks.cycle, {}, kNoSequence, verdict);
  verdict.would_change.push_back("A program in which these ranks do other work than their peers.");
  AdviseOnOrder(verdict);
  return verdict;
}

// In a ring that no order explains, a rank whose stack is not in communication breaks it.
std::vector<RankId> OutsideByStack(const Situation& s) {
  std::vector<RankId> outside;
  for (const RankId rank : s.sinks.cycle) {
    const RankRecord* record = FindRecord(s.view, rank);
    if (record == nullptr || record->doing.empty()) return {};  // one unknown stack: cannot tell
    if (!record->waiting_in_communication) outside.push_back(rank);
  }
  return outside;
}

// What each rank with a history entered, in order. Ops of several groups interleave as they did on
// the rank.
Orders StepsOf(const JobView& view) {
  Orders steps;
  for (const RankRecord& record : view.records) {
    if (record.extent != RecordExtent::kHistory || record.cut) continue;
    for (const EnteredOp& op : record.ops) {
      steps[record.rank].push_back({op.group, op.kind, op.elements, op.peer});
    }
  }
  return steps;
}

Verdict ConvictBreak(const Situation& s, const OrderBreak& broken, const Orders& steps,
                     const std::vector<RankId>& ring) {
  Verdict verdict = Accuse(s, Cause::kMismatch, {broken.rank});
  verdict.grade = Grade::kSupported;
  verdict.sentence = absl::StrFormat(
      "Rank %d entered %s where it had always entered %s: it left out an op or changed the order, "
      "and closed a ring of waits.",
      broken.rank.value, InWords(s.view, broken.did), InWords(s.view, broken.usual));
  verdict.evidence.push_back({"Times that the other op followed before.",
                              static_cast<double>(broken.times), "times", 0, "flight recorder"});
  AddWaits(s, {broken.rank}, verdict);
  AddOrders(s.view, steps, ring, "flight recorder", verdict);
  AddSites(s, ring, {}, kNoSequence, verdict);
  verdict.would_change.push_back("Another rank of the ring that changed its order before.");
  AdviseOnOrder(verdict);
  return verdict;
}

// The message in which `rank` waits for the other; null: it does not.
const StuckInstance* MessageFor(const Situation& s, RankId rank, RankId other) {
  for (const StuckInstance& instance : s.graph.instances) {
    const bool here = instance.inside == std::vector{rank} && instance.absent == std::vector{other};
    if (here && IsPointToPoint(instance.kind)) return &instance;
  }
  return nullptr;
}

// Two ranks of which each is inside a message that the other does not answer: they called their
// sends and receives in orders that cannot meet.
std::string MessagesInWords(const Situation& s) {
  const std::vector<RankId>& ring = s.sinks.cycle;
  if (ring.size() != 2) return "";
  const StuckInstance* one = MessageFor(s, ring[0], ring[1]);
  const StuckInstance* two = MessageFor(s, ring[1], ring[0]);
  if (one == nullptr || two == nullptr) return "";
  return absl::StrFormat(
      "Ranks %d and %d wait for one another in messages that cannot meet: the one is in %s, the "
      "other in %s.",
      ring[0].value, ring[1].value, InWords(s.view, OpStep{one->group, one->kind, 0, ring[1]}),
      InWords(s.view, OpStep{two->group, two->kind, 0, ring[0]}));
}

Verdict ConvictRing(const Situation& s, const Orders& steps) {
  Verdict verdict = Accuse(s, Cause::kMismatch, s.sinks.cycle);
  const std::string messages = MessagesInWords(s);
  verdict.grade = messages.empty() ? Grade::kHypothesis : Grade::kSupported;
  verdict.sentence = messages;
  if (messages.empty()) {
    verdict.sentence = absl::StrFormat(
        "%s wait for one another in a ring: they entered their groups in different orders.",
        RanksAtStart(s.sinks.cycle));
  }
  AddWaits(s, s.sinks.cycle, verdict);
  AddOrders(s.view, steps, s.sinks.cycle, "flight recorder", verdict);
  AddSites(s, s.sinks.cycle, {}, kNoSequence, verdict);
  verdict.would_change.push_back("A stack that shows one of them outside of communication.");
  AdviseOnOrder(verdict);
  return verdict;
}

// Two ops of different groups that the same ranks have entered, some in the other order. Where
// devices run the ops of a rank in that order, each side waits for the other.
struct Crossed {
  const StuckInstance* one = nullptr;
  const StuckInstance* two = nullptr;
  std::vector<RankId> one_first;
  std::vector<RankId> two_first;
};

// The foremost op of each group that all members are inside of. Those that devices are known to
// have begun are not held up by an order, nor are those behind an op that others have finished.
std::map<GroupId, const StuckInstance*> Foremost(const Situation& s) {
  std::map<GroupId, const StuckInstance*> foremost;
  for (const std::size_t i : s.sinks.complete) {
    const StuckInstance& instance = s.graph.instances[i];
    if (instance.sequence == kNoSequence) continue;
    const bool behind = std::any_of(instance.inside.begin(), instance.inside.end(),
                                    [&](RankId r) { return LeftBehindIn(s.graph, r) != nullptr; });
    const auto [at, first] = foremost.emplace(instance.group, &instance);
    if (!first && instance.sequence < at->second->sequence) at->second = &instance;
    if (behind) at->second = nullptr;
    if (at->second == nullptr) return {};
  }
  return foremost;
}

// Those of `foremost` that this rank entered, in its order.
std::vector<const StuckInstance*> InOrder(const RankRecord& record,
                                          const std::map<GroupId, const StuckInstance*>& foremost) {
  std::vector<const StuckInstance*> order;
  for (const EnteredOp& op : record.ops) {
    const auto at = foremost.find(op.group);
    if (at == foremost.end() || !op.open || op.sequence != at->second->sequence) continue;
    if (op.started) return {};
    order.push_back(at->second);
  }
  return order;
}

std::optional<Crossed> FindCrossed(const Situation& s) {
  const auto foremost = Foremost(s);
  if (foremost.size() < 2) return std::nullopt;
  std::map<std::pair<GroupId, GroupId>, Crossed> pairs;
  for (const RankRecord& record : s.view.records) {
    const auto order = InOrder(record, foremost);
    for (std::size_t a = 0; a < order.size(); ++a) {
      for (std::size_t b = a + 1; b < order.size(); ++b) {
        const bool sorted = order[a]->group < order[b]->group;
        const auto* one = sorted ? order[a] : order[b];
        const auto* two = sorted ? order[b] : order[a];
        Crossed& pair = pairs[{one->group, two->group}];
        pair.one = one;
        pair.two = two;
        (sorted ? pair.one_first : pair.two_first).push_back(record.rank);
      }
    }
  }
  for (auto& [groups, pair] : pairs) {
    if (!pair.one_first.empty() && !pair.two_first.empty()) return std::move(pair);
  }
  return std::nullopt;
}

// Whether the rank entered the two groups' ops in another order before: 1 yes, -1 no, 0 not told.
int ChangedOrder(const RankRecord& record, const Crossed& crossed, bool one_first) {
  const EnteredOp* one = nullptr;
  const EnteredOp* two = nullptr;
  for (const EnteredOp& op : record.ops) {
    if (op.open) continue;
    if (op.group == crossed.one->group) one = &op;
    if (op.group == crossed.two->group) two = &op;
  }
  if (one == nullptr || two == nullptr) return 0;
  return (one < two) == one_first ? -1 : 1;
}

// An order that was always so has never held anybody up.
bool AlwaysSo(const Situation& s, const Crossed& crossed) {
  int told = 0;
  const auto changed = [&](const std::vector<RankId>& ranks, bool one_first) {
    return std::any_of(ranks.begin(), ranks.end(), [&](RankId rank) {
      const int how = ChangedOrder(*FindRecord(s.view, rank), crossed, one_first);
      told += how != 0 ? 1 : 0;
      return how > 0;
    });
  };
  if (changed(crossed.one_first, true) || changed(crossed.two_first, false)) return false;
  return told > 0;
}

void DescribeCrossed(const Situation& s, const Crossed& crossed, Verdict& verdict) {
  const std::string one = OpName(s.view, *crossed.one);
  const std::string two = OpName(s.view, *crossed.two);
  const auto add = [&](const std::vector<RankId>& ranks, const std::string& first,
                       const std::string& then) {
    verdict.evidence.push_back(
        {absl::StrFormat("%s entered %s before %s.", RanksAtStart(ranks), first, then),
         static_cast<double>(ranks.size()), "ranks", 0, "flight recorder"});
  };
  add(crossed.one_first, one, two);
  add(crossed.two_first, two, one);
}

// The side of the minority, both without one: a lead, for nothing shows that devices keep the
// order.
Verdict SuspectCrossed(const Situation& s, const Crossed& crossed,
                       const std::vector<RankId>& ring) {
  const std::size_t one = crossed.one_first.size();
  const std::size_t two = crossed.two_first.size();
  const auto& side = one < two ? crossed.one_first : crossed.two_first;
  Verdict verdict = Accuse(s, Cause::kMismatch, one == two ? ring : side);
  verdict.grade = Grade::kHypothesis;
  verdict.sentence = absl::StrFormat(
      "%s entered %s before %s, %s the other way round: each side may wait for the other.",
      RanksAtStart(crossed.one_first), OpName(s.view, *crossed.one), OpName(s.view, *crossed.two),
      RanksInWords(crossed.two_first));
  DescribeCrossed(s, crossed, verdict);
  AddSites(s, ring, crossed.one->group, crossed.one->sequence, verdict);
  verdict.would_change.push_back("Start times that show both ops begun on all of these ranks.");
  AdviseOnOrder(verdict);
  return verdict;
}

}  // namespace

std::vector<Verdict> JudgeOrderOfEntry(const Situation& s) {
  const auto crossed = FindCrossed(s);
  if (!crossed || AlwaysSo(s, *crossed)) return {};
  if (!FindRecordedTrouble(s.view, s.config).paths.empty()) return {};  // bytes that do not move
  std::vector<RankId> ring = crossed->one_first;
  ring.insert(ring.end(), crossed->two_first.begin(), crossed->two_first.end());
  std::sort(ring.begin(), ring.end());
  const Orders steps = StepsOf(s.view);
  const auto broken = FindOrderBreak(steps, ring);
  if (!broken) return {SuspectCrossed(s, *crossed, ring)};
  Verdict verdict = ConvictBreak(s, *broken, steps, ring);
  DescribeCrossed(s, *crossed, verdict);
  return {std::move(verdict)};
}

std::vector<Verdict> JudgeMismatch(const Situation& s) {
  const auto found = FindMismatch(s.view, s.ended());
  if (!found) return {};
  Verdict verdict = Accuse(s, Cause::kMismatch, found->odd);
  verdict.grade = found->majority ? Grade::kEstablished : Grade::kSupported;
  const std::string where =
      absl::StrFormat("as op %d of %s", found->sequence.value + 1, GroupName(s.view, found->group));
  verdict.sentence =
      found->majority
          ? absl::StrFormat("%s called %s %s, where %s called %s.", RanksAtStart(found->odd),
                            found->odd_call, where, RanksInWords(found->others), found->other_call)
          : absl::StrFormat(
                "%s do not agree on the %s %s: %s against %s, and neither has a majority.",
                RanksAtStart(found->odd), found->difference, where, found->odd_call,
                found->other_call);
  verdict.evidence.push_back(
      {absl::StrCat("Calls at the same place differ in ", found->difference, "."),
       static_cast<double>(found->odd.size()), "ranks", static_cast<double>(found->others.size()),
       "flight recorder"});
  std::vector<RankId> all = found->odd;
  if (found->majority) all.insert(all.end(), found->others.begin(), found->others.end());
  AddSites(s, all, found->group, found->sequence, verdict);
  if (found->majority) AddChainBehindCall(s, found->group, found->sequence, verdict);
  verdict.would_change.push_back("A group whose ops are numbered differently on these ranks.");
  AdviseOnOrder(verdict);
  return {std::move(verdict)};
}

std::vector<Verdict> JudgeRing(const Situation& s, Findings& findings) {
  if (s.sinks.cycle.empty()) return {};
  const auto slack = static_cast<std::uint64_t>(s.config.same_work_ops);
  const auto skipped = FindSkipped(s.view, s.sinks.cycle, slack);
  if (!skipped.empty()) return {Convict(s, skipped)};
  const Orders steps = StepsOf(s.view);
  if (const auto broken = FindOrderBreak(steps, s.sinks.cycle)) {
    return {ConvictBreak(s, *broken, steps, s.sinks.cycle)};
  }
  const std::vector<RankId> outside = OutsideByStack(s);
  if (outside.size() == 1) {
    Verdict verdict = Accuse(s, Cause::kNonCommunicationHang, outside);
    verdict.grade = Grade::kSupported;
    verdict.sentence =
        absl::StrFormat("Rank %d is in %s, the others of a ring of waits are in communication.",
                        outside[0].value, FindRecord(s.view, outside[0])->doing);
    AddWaits(s, outside, verdict);
    verdict.would_change.push_back("Another stack of this rank, inside a communication call.");
    return {std::move(verdict)};
  }
  if (2 * s.sinks.cycle.size() <= s.view.world_size || s.sinks.cycle.size() == 2) {
    return {ConvictRing(s, steps)};
  }
  findings.abstained.push_back({kWhoBrokeTheOrder, "stacks of " + RanksInWords(s.sinks.cycle) +
                                                       ", or what each of them entered before"});
  return {};
}

}  // namespace fathom::diagnosis::records
