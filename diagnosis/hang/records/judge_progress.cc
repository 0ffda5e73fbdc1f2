#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/hang/records/situation.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis::records {
namespace {

// For each rank, its collectives that others finished, oldest first: (instance, how many of its
// group finished a later op in which the rank took part).
using Unfinished = std::map<RankId, std::vector<const StuckInstance*>>;

bool FinishedByOthers(const StuckInstance& instance) {
  return instance.sequence != kNoSequence && IsSynchronising(instance.kind) &&
         !instance.done.empty() && !instance.inside.empty();
}

Unfinished UnfinishedOf(const Situation& s) {
  Unfinished unfinished;
  for (const StuckInstance& instance : s.graph.instances) {
    if (!FinishedByOthers(instance)) continue;
    for (const RankId rank : instance.inside) unfinished[rank].push_back(&instance);
  }
  return unfinished;
}

// A member that took part in a later op of the group has finished this one, whatever its record
// says: nobody tells it any more what its device does.
bool TookPartLater(const std::vector<const StuckInstance*>& all, const StuckInstance& instance) {
  return std::any_of(all.begin(), all.end(), [&](const StuckInstance* later) {
    return later->group == instance.group && instance.sequence < later->sequence;
  });
}

// Somebody else that is behind may hold this rank up in every op that it has not finished.
bool MayWaitBehind(const Unfinished& unfinished, RankId rank) {
  const auto& own = unfinished.at(rank);
  return std::all_of(own.begin(), own.end(), [&](const StuckInstance* instance) {
    return instance->inside.size() > 1 && !TookPartLater(own, *instance);
  });
}

// The oldest op that the rank has not finished and others have; with a later one of its group if
// there is one, which proves most.
const StuckInstance& Telling(const std::vector<const StuckInstance*>& own) {
  const StuckInstance* best = own.front();
  for (const StuckInstance* each : own) {
    const bool proves = TookPartLater(own, *each) && !TookPartLater(own, *best);
    const bool alone = TookPartLater(own, *each) == TookPartLater(own, *best) &&
                       each->inside.size() < best->inside.size();
    if (proves || alone) best = each;
  }
  return *best;
}

void DescribeUnfinished(const Situation& s, const Unfinished& unfinished, Verdict& verdict) {
  for (const RankId rank : verdict.entity.ranks) {
    const auto& own = unfinished.at(rank);
    const StuckInstance& telling = Telling(own);
    verdict.evidence.push_back(
        {absl::StrFormat("Rank %d has not finished %s, which %s have.", rank.value,
                         OpName(s.view, telling), RanksInWords(telling.done)),
         static_cast<double>(own.size()), own.size() == 1 ? "op" : "ops", 0, "flight recorder"});
  }
}

// Members of `head` that others wait for in ops that they have not entered: only those that another
// member waits for, if there are any. The two ends of a message run programs of their own, of which
// one is ahead by right: where one of them waits for the other again, or a third for a message,
// that tells nothing.
std::vector<RankId> Outrun(const Situation& s, const StuckInstance& head) {
  std::set<RankId> inner;
  std::set<RankId> outer;
  for (const StuckInstance& later : s.graph.instances) {
    if (!later.held()) continue;
    const bool by_members = std::any_of(later.inside.begin(), later.inside.end(),
                                        [&](RankId r) { return Contains(head.inside, r); });
    const bool message = head.sequence == kNoSequence;
    if (message && (by_members || later.sequence == kNoSequence)) continue;
    for (const RankId rank : later.absent) {
      if (Contains(head.inside, rank) && !Contains(later.queued, rank)) {
        (by_members ? inner : outer).insert(rank);
      }
    }
  }
  const std::set<RankId>& told = inner.empty() ? outer : inner;
  return {told.begin(), told.end()};
}

// Devices tell which collectives they began; of a message that nobody began they say nothing.
bool DevicesTell(const JobView& view) {
  return std::any_of(view.records.begin(), view.records.end(), [](const RankRecord& record) {
    return std::any_of(record.ops.begin(), record.ops.end(),
                       [](const EnteredOp& op) { return op.started; });
  });
}

// Some program reads a result on its first or last rank alone, whose host then waits for it.
bool MayReadResults(const JobView& view, const std::vector<RankId>& ranks) {
  return std::any_of(ranks.begin(), ranks.end(), [&](RankId rank) {
    return rank == RankId(0) || rank.value + 1 == view.world_size;
  });
}

Verdict NameOutrun(const Situation& s, const StuckInstance& head, std::vector<RankId> ranks) {
  Verdict verdict = Accuse(s, Cause::kNonCommunicationHang, std::move(ranks));
  const auto& named = verdict.entity.ranks;
  const bool one = named.size() == 1;
  verdict.grade = MayReadResults(s.view, named) ? Grade::kHypothesis : Grade::kSupported;
  verdict.sentence = absl::StrFormat(
      "All members (%s) entered %s and none finished it; %s entered nothing afterwards that the "
      "others did: %s host went no further.",
      RanksInWords(head.inside), OpName(s.view, head),
      RanksInWords(named) + (one ? " has" : " have"), one ? "its" : "their");
  AddWaits(s, named, verdict);
  verdict.would_change.push_back(
      "A program that reads a result on these ranks alone: their hosts then wait for it by right.");
  verdict.would_change.push_back("Stacks of these ranks that show them in communication.");
  return verdict;
}

}  // namespace

std::map<RankId, std::size_t> FirstOpen(const Situation& s) {
  std::map<RankId, std::size_t> first;
  for (const auto& [rank, waits] : s.graph.waits) {
    const RankRecord* record = FindRecord(s.view, rank);
    if (record == nullptr) continue;
    for (const EnteredOp& op : record->ops) {
      if (!op.open) continue;
      const auto at = std::find_if(waits.begin(), waits.end(), [&](std::size_t i) {
        const StuckInstance& instance = s.graph.instances[i];
        const bool message =
            IsPointToPoint(op.kind) && instance.sequence == kNoSequence &&
            (Contains(instance.inside, op.peer) || Contains(instance.absent, op.peer) ||
             Contains(instance.unknown, op.peer));
        return instance.group == op.group &&
               (message || (!IsPointToPoint(op.kind) && instance.sequence == op.sequence));
      });
      if (at == waits.end() || !s.graph.instances[*at].done.empty()) continue;
      first[rank] = *at;
      break;
    }
  }
  return first;
}

bool IsHead(const RecordGraph& graph, std::size_t i, const std::map<RankId, std::size_t>& first) {
  const StuckInstance& instance = graph.instances[i];
  return instance.complete() &&
         std::all_of(instance.inside.begin(), instance.inside.end(), [&](RankId rank) {
           const auto at = first.find(rank);
           return at != first.end() && at->second == i;
         });
}

std::vector<Verdict> JudgeUnfinished(const Situation& s) {
  const Unfinished unfinished = UnfinishedOf(s);
  std::vector<RankId> sure;
  bool proven = false;
  for (const auto& [rank, own] : unfinished) {
    if (MayWaitBehind(unfinished, rank)) continue;
    const StuckInstance& telling = Telling(own);
    const bool proof = TookPartLater(own, telling);
    if (!proof && telling.done.size() <= telling.inside.size()) continue;
    proven = proven || proof;
    sure.push_back(rank);
  }
  if (!proven || 2 * sure.size() >= s.view.world_size) return {};
  Verdict verdict = Accuse(s, Cause::kNonCommunicationHang, sure);
  verdict.grade = Grade::kSupported;
  const bool one = sure.size() == 1;
  verdict.sentence = absl::StrFormat(
      "%s not finished ops that all others have, and took part in later ones: %s device, or what "
      "watches it, stopped.",
      RanksAtStart(sure) + (one ? " has" : " have"), one ? "its" : "their");
  DescribeUnfinished(s, unfinished, verdict);
  AddWaits(s, verdict.entity.ranks, verdict);
  verdict.would_change.push_back(
      "Records of these ranks that were written as late as those of the others.");
  return {std::move(verdict)};
}

std::vector<Verdict> JudgeOutrun(const Situation& s) {
  const auto first = FirstOpen(s);
  const bool told = DevicesTell(s.view);
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < s.graph.instances.size(); ++i) {
    const StuckInstance& head = s.graph.instances[i];
    if (!IsHead(s.graph, i, first) || (told && head.sequence == kNoSequence)) continue;
    std::vector<RankId> ranks = Outrun(s, head);
    const bool few = !ranks.empty() && (2 * ranks.size() < head.inside.size() ||
                                        (ranks.size() == 1 && head.inside.size() == 2));
    if (few) verdicts.push_back(NameOutrun(s, head, std::move(ranks)));
  }
  return verdicts;
}

}  // namespace fathom::diagnosis::records
