#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "diagnosis/evidence/phrase.h"
#include "diagnosis/rules/hang/order_words.h"
#include "diagnosis/rules/hang/program_order.h"
#include "diagnosis/rules/records/situation.h"

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
      RanksInWords(ranks), absl::StrJoin(first.behind, ", "), absl::StrJoin(first.ahead, ", "),
      RanksInWords(verdict.victims));
  verdict.sentence[0] = 'R';
  for (const Skipped& odd : skipped) {
    verdict.evidence.push_back(
        {absl::StrFormat("Rank %d is behind in %s and not in %s: an order that no peer shares.",
                         odd.rank.value, absl::StrJoin(odd.behind, ", "),
                         absl::StrJoin(odd.ahead, ", ")),
         static_cast<double>(odd.contradicts), "peers with another order", 0, "flight recorder"});
  }
  AddWaits(s, ranks, verdict);
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

Verdict ConvictBreak(const Situation& s, const OrderBreak& broken, const Orders& steps) {
  Verdict verdict = Accuse(s, Cause::kMismatch, {broken.rank});
  verdict.grade = Grade::kSupported;
  verdict.sentence = absl::StrFormat(
      "Rank %d entered %s where it had always entered %s: it left out an op or changed the order, "
      "and closed a ring of waits.",
      broken.rank.value, InWords(s.view, broken.did), InWords(s.view, broken.usual));
  verdict.evidence.push_back({"Times that the other op followed before.",
                              static_cast<double>(broken.times), "times", 0, "flight recorder"});
  AddWaits(s, {broken.rank}, verdict);
  AddOrders(s.view, steps, s.sinks.cycle, "flight recorder", verdict);
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
        "R%s wait for one another in a ring: they entered their groups in different orders.",
        RanksInWords(s.sinks.cycle).substr(1));
  }
  AddWaits(s, s.sinks.cycle, verdict);
  AddOrders(s.view, steps, s.sinks.cycle, "flight recorder", verdict);
  verdict.would_change.push_back("A stack that shows one of them outside of communication.");
  AdviseOnOrder(verdict);
  return verdict;
}

}  // namespace

std::vector<Verdict> JudgeMismatch(const Situation& s) {
  const auto found = FindMismatch(s.view, s.ended());
  if (!found) return {};
  Verdict verdict = Accuse(s, Cause::kMismatch, found->odd);
  verdict.grade = found->majority ? Grade::kEstablished : Grade::kSupported;
  const std::string where =
      absl::StrFormat("as op %d of %s", found->sequence.value + 1, GroupName(s.view, found->group));
  verdict.sentence =
      found->majority
          ? absl::StrFormat("%s called %s %s, where %s called %s.", RanksInWords(found->odd),
                            found->odd_call, where, RanksInWords(found->others), found->other_call)
          : absl::StrFormat(
                "%s do not agree on the %s %s: %s against %s, and neither has a majority.",
                RanksInWords(found->odd), found->difference, where, found->odd_call,
                found->other_call);
  verdict.sentence[0] = 'R';
  verdict.evidence.push_back(
      {absl::StrCat("Calls at the same place differ in ", found->difference, "."),
       static_cast<double>(found->odd.size()), "ranks", static_cast<double>(found->others.size()),
       "flight recorder"});
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
    return {ConvictBreak(s, *broken, steps)};
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
  findings.abstained.push_back(
      {"who broke the order in a ring of waits",
       "stacks of " + RanksInWords(s.sinks.cycle) + ", or what each of them entered before"});
  return {};
}

}  // namespace fathom::diagnosis::records
