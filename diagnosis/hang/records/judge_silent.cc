#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/hang/place/meeting_place.h"
#include "diagnosis/hang/place/troubled_paths.h"
#include "diagnosis/hang/records/situation.h"
#include "diagnosis/hang/records/stopped_job.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis::records {
namespace {

void DescribePaths(const std::set<Path>& paths, Verdict& verdict) {
  for (const auto& [a, b] : paths) {
    verdict.evidence.push_back(
        {absl::StrFormat("Between ranks %d and %d segments are sent again and again, unconfirmed.",
                         a.value, b.value),
         1, "path", 0, "transport"});
  }
}

// Narrows the verdict down to where the paths that move nothing meet. False: they do not.
bool NamePaths(const Situation& s, const StuckInstance& instance, const TroubledPaths& found,
               Verdict& verdict) {
  DescribePaths(found.paths, verdict);
  const MeetingPlace place = WherePathsMeet(s.view, found);
  if (place.kind == MeetingPlace::Kind::kNone) return false;
  NamePlace(s.view, place, verdict);
  const bool link = place.kind == MeetingPlace::Kind::kLink;
  verdict.grade = link ? Grade::kSupported : Grade::kEstablished;
  verdict.sentence = absl::StrFormat("All members entered %s and none got out. %s",
                                     OpName(s.view, instance), InWords(place));
  return true;
}

// All are inside a later op, but some have not finished an earlier one that the others have.
void NameLaggards(const Situation& s, const StuckInstance& instance, Verdict& verdict) {
  std::vector<RankId> laggards;
  for (const RankId rank : instance.inside) {
    if (LeftBehindIn(s.graph, rank) != nullptr) laggards.push_back(rank);
  }
  if (laggards.empty() || 2 * laggards.size() >= instance.inside.size()) return;
  const StuckInstance& earlier = *LeftBehindIn(s.graph, laggards.front());
  verdict.grade = MayWaitForOthers(s, laggards) ? Grade::kHypothesis : Grade::kSupported;
  verdict.entity.type = EntityType::kRank;
  verdict.sentence =
      absl::StrFormat("%s not finished %s, which the others have: %s wait behind.",
                      RanksAtStart(laggards) + (laggards.size() == 1 ? " has" : " have"),
                      OpName(s.view, earlier), RanksInWords(earlier.done));
  verdict.evidence.push_back({"Least progress: the others have finished this op.",
                              static_cast<double>(earlier.done.size()), "ranks",
                              static_cast<double>(earlier.inside.size()), "flight recorder"});
  std::erase_if(verdict.victims, [&](RankId r) { return Contains(laggards, r); });
  verdict.entity.ranks = std::move(laggards);
}

// Ranks without a record that may belong to a group whose members are those that recorded ops of
// it: all that are in no other group of its kind.
std::vector<RankId> PossibleMembers(const Situation& s, const StuckInstance& instance) {
  const Group* group = FindGroup(s.view, instance.group);
  if (group == nullptr || !group->guessed || instance.sequence == kNoSequence) return {};
  std::vector<RankId> possible = s.unrecorded();
  for (const Group& like : s.view.groups) {
    if (like.description != group->description) continue;
    std::erase_if(possible, [&](RankId rank) { return Contains(like.members, rank); });
  }
  return possible;
}

// Members pass sizes of their own where the kind allows it: whether these fit is not recorded.
bool SizesDiffer(const Situation& s, const StuckInstance& instance) {
  if (instance.kind != CollectiveKind::kAllToAll && instance.kind != CollectiveKind::kAllGather &&
      instance.kind != CollectiveKind::kReduceScatter) {
    return false;
  }
  std::set<std::pair<std::uint64_t, std::uint64_t>> sizes;
  for (const RankId rank : instance.inside) {
    for (const EnteredOp& op : FindRecord(s.view, rank)->ops) {
      const bool same = op.group == instance.group && op.sequence == instance.sequence;
      if (same) sizes.insert({op.elements, op.output_elements});
    }
  }
  return sizes.size() > 1;
}

// Why an op with all known members inside may yet not be stuck by itself; nullopt where it is.
std::optional<Abstention> WhyNotStuck(const Situation& s, const StuckInstance& instance,
                                      const TroubledPaths& found) {
  if (const auto possible = PossibleMembers(s, instance); !possible.empty()) {
    return Abstention{absl::StrCat("whether all members are inside ", OpName(s.view, instance)),
                      absl::StrCat("records of ", RanksInWords(possible),
                                   ": who is in the group is told by records alone")};
  }
  if (instance.kind == CollectiveKind::kBarrier && found.paths.empty()) {
    return Abstention{
        "whether the job was stuck when the records were written",
        "time or stacks: all ranks are inside the same barrier, as at an orderly end"};
  }
  if (found.paths.empty() && SizesDiffer(s, instance)) {
    return Abstention{
        absl::StrCat("whether the sizes that the members passed to ", OpName(s.view, instance),
                     " fit"),
        "the size of each split on each rank: the records tell the totals, and these differ"};
  }
  return std::nullopt;
}

// Where in its record a rank entered the instance that it is inside of.
std::size_t PlaceOf(const RankRecord& record, const StuckInstance& instance) {
  const auto at = std::find_if(record.ops.begin(), record.ops.end(), [&](const EnteredOp& op) {
    return op.open && op.group == instance.group && op.sequence == instance.sequence &&
           op.kind == instance.kind;
  });
  return static_cast<std::size_t>(at - record.ops.begin());
}

using InDoubt = std::map<RankId, std::vector<const StuckInstance*>>;

// A member entered an op of which that is in doubt before this one, and may wait behind it.
bool MayBeBehind(const Situation& s, const StuckInstance& instance, const InDoubt& in_doubt) {
  return std::any_of(instance.inside.begin(), instance.inside.end(), [&](RankId rank) {
    const auto others = in_doubt.find(rank);
    const RankRecord* record = FindRecord(s.view, rank);
    if (others == in_doubt.end()) return false;
    return record == nullptr ||
           std::any_of(others->second.begin(), others->second.end(), [&](const auto* other) {
             return PlaceOf(*record, *other) <= PlaceOf(*record, instance);
           });
  });
}

// The first op that is stuck by itself and behind none of which that is in doubt. Null where there
// is none; `doubt` then says why of the first.
const StuckInstance* StuckByItself(const Situation& s, const TroubledPaths& found,
                                   std::optional<Abstention>& doubt) {
  std::vector<const StuckInstance*> sure;
  InDoubt in_doubt;
  for (const std::size_t i : s.sinks.complete) {
    const StuckInstance& instance = s.graph.instances[i];
    auto why = WhyNotStuck(s, instance, found);
    if (!why) {
      sure.push_back(&instance);
      continue;
    }
    for (const RankId rank : instance.inside) in_doubt[rank].push_back(&instance);
    if (!doubt) doubt = std::move(why);
  }
  std::erase_if(sure, [&](const StuckInstance* each) { return MayBeBehind(s, *each, in_doubt); });
  if (sure.empty()) return nullptr;
  // A message waits on a device for what was computed before it, and whoever ran ahead is inside
  // more than what is stuck: a collective that is the first for all its members tells most.
  const auto first = FirstOpen(s);
  const auto tells = [&](const StuckInstance* each) {
    const auto i = static_cast<std::size_t>(each - s.graph.instances.data());
    return (IsHead(s.graph, i, first) ? 2 : 0) + (each->sequence != kNoSequence ? 1 : 0);
  };
  return *std::max_element(sure.begin(), sure.end(),
                           [&](const auto* a, const auto* b) { return tells(a) < tells(b); });
}

Verdict NameStuck(const Situation& s, const StuckInstance& instance) {
  Verdict verdict = Accuse(s, Cause::kCommunicationHang, instance.inside);
  verdict.entity.type = EntityType::kGroup;
  verdict.grade = Grade::kHypothesis;
  verdict.victims.clear();
  for (const auto& [rank, waits] : s.graph.waits) verdict.victims.push_back(rank);
  verdict.sentence = absl::StrFormat(
      "All members (%s) entered %s and none got out: the communication itself is stuck.",
      RanksInWords(instance.inside), OpName(s.view, instance));
  verdict.evidence.push_back({"All members are inside the op and none has finished it.",
                              static_cast<double>(instance.inside.size()), "ranks", 0,
                              "flight recorder"});
  NameLaggards(s, instance, verdict);
  return verdict;
}

bool SuspectedStack(const RankRecord& record) {
  return !record.doing.empty() && !record.waiting_in_communication;
}

}  // namespace

std::vector<Verdict> JudgeUnrecorded(const Situation& s, Findings& findings) {
  std::set<RankId> suspects;
  for (const std::size_t i : s.sinks.unrecorded) {
    const auto& unknown = s.graph.instances[i].unknown;
    suspects.insert(unknown.begin(), unknown.end());
  }
  if (suspects.empty()) return {};
  const auto is_stale = [&](RankId rank) { return Contains(s.graph.stale, rank); };
  if (std::any_of(suspects.begin(), suspects.end(), is_stale)) {
    findings.abstained.push_back(
        {kWhoHoldsUp,
         "later records of " + RanksInWords(s.graph.stale) +
             ": others completed ops that these had not entered when they were written"});
    return {};
  }
  const std::vector<RankId> ranks(suspects.begin(), suspects.end());
  // Of few records nobody can be singled out: most of the job may wait for somebody else.
  const std::vector<RankId> incomplete = s.incomplete();
  const std::size_t whole =
      s.view.records.size() - std::min(s.view.records.size(), incomplete.size());
  if (2 * incomplete.size() >= s.view.world_size || ranks.size() > whole) {
    findings.abstained.push_back(
        {kWhoHoldsUp, absl::StrCat("the dumps of ", RanksInWords(incomplete), ": ", whole, " of ",
                                   s.view.world_size, " ranks left a whole one")});
    return {};
  }
  Verdict verdict = Accuse(s, Cause::kNonCommunicationHang, ranks);
  verdict.grade = ranks.size() == 1 ? Grade::kSupported : Grade::kHypothesis;
  verdict.sentence = absl::StrFormat(
      "%s left no record, and all ranks that did wait in ops that only %s can hold up.",
      RanksAtStart(ranks), ranks.size() == 1 ? "it" : "they");
  AddWaits(s, ranks, verdict);
  verdict.would_change.push_back("A record of these ranks that shows them inside the op.");
  return {std::move(verdict)};
}

std::vector<Verdict> JudgeCommunication(const Situation& s, Findings& findings) {
  if (s.sinks.complete.empty()) return {};
  const TroubledPaths found = FindRecordedTrouble(s.view, s.config);
  std::optional<Abstention> doubt;
  const StuckInstance* stuck = StuckByItself(s, found, doubt);
  if (stuck == nullptr) {
    if (doubt) findings.abstained.push_back(*std::move(doubt));
    return {};
  }
  Verdict verdict = NameStuck(s, *stuck);
  const bool named = NamePaths(s, *stuck, found, verdict);
  if (found.paths.empty()) {
    findings.abstained.push_back({"which link or rank of the group moves no bytes",
                                  "the state of the transport (sockets, channels) on each rank"});
  }
  if (!named) AdviseOnConnections(verdict);
  verdict.would_change.push_back("Records that were written while the job still made progress.");
  return {std::move(verdict)};
}

// Sends and receives that the source does not list leave only the stacks.
std::vector<Verdict> JudgeStacks(const Situation& s) {
  std::vector<RankId> suspects;
  std::vector<RankId> waiting;
  for (const RankRecord& record : s.view.records) {
    if (record.waiting_in_communication) waiting.push_back(record.rank);
    if (SuspectedStack(record)) suspects.push_back(record.rank);
  }
  if (suspects.empty() || waiting.empty() || suspects.size() >= waiting.size()) return {};
  Verdict verdict = Accuse(s, Cause::kNonCommunicationHang, suspects);
  verdict.grade = Grade::kSupported;
  verdict.victims = waiting;
  verdict.sentence =
      absl::StrFormat("%s in %s while the other ranks wait in communication.",
                      RanksAtStart(suspects) + (suspects.size() == 1 ? " is" : " are"),
                      FindRecord(s.view, suspects.front())->doing);
  verdict.evidence.push_back({"Stacks of the others are inside a communication call.",
                              static_cast<double>(waiting.size()), "ranks",
                              static_cast<double>(s.view.world_size), "stacks"});
  verdict.would_change.push_back("Another stack of this rank, inside a communication call.");
  return {std::move(verdict)};
}

// A dead peer shows at once. Who still waited when it wrote its record had lost none: then somebody
// else left first, and who wrote nothing may be stopped as well as dead.
bool SomebodyWaitsOn(const JobView& view) {
  return std::any_of(view.records.begin(), view.records.end(), [](const RankRecord& record) {
    return record.ended == EndedBy::kNotKnown &&
           std::any_of(record.ops.begin(), record.ops.end(),
                       [](const EnteredOp& op) { return op.open; });
  });
}

std::vector<Verdict> JudgeEnded(const Situation& s, Findings& findings) {
  std::vector<RankId> lost_a_peer;
  std::vector<RankId> failed;
  std::vector<RankId> silent;
  for (const RankRecord& record : s.view.records) {
    if (record.ended == EndedBy::kPeerLost) lost_a_peer.push_back(record.rank);
    if (record.ended == EndedBy::kOwnError) failed.push_back(record.rank);
    const bool quiet = record.ended == EndedBy::kNotKnown &&
                       (record.extent == RecordExtent::kMissing || record.output_known);
    if (quiet) silent.push_back(record.rank);
  }
  if (lost_a_peer.empty() && failed.empty()) return {};
  if (failed.empty() && SomebodyWaitsOn(s.view)) return {};
  const std::vector<RankId>& dead = failed.empty() ? silent : failed;
  if (dead.empty() || 2 * dead.size() > s.view.world_size) {
    findings.abstained.push_back({"whose process died first",
                                  "the output or exit status of each rank; those that are known "
                                  "only lost a peer"});
    return {};
  }
  Verdict verdict = Accuse(s, Cause::kProcessDead, dead);
  verdict.grade = failed.empty() ? Grade::kSupported : Grade::kEstablished;
  verdict.victims = lost_a_peer;
  const RankRecord& first = *FindRecord(s.view, dead.front());
  verdict.sentence =
      failed.empty()
          ? absl::StrFormat(
                "%s ended without a word and %s no record; %s lost %s connection to a peer.",
                RanksAtStart(dead), first.extent == RecordExtent::kMissing ? "left" : "wrote",
                RanksInWords(lost_a_peer), lost_a_peer.size() == 1 ? "its" : "their")
          : absl::StrFormat("%s failed: %s", RanksAtStart(dead), first.last_words);
  for (const RankId rank : lost_a_peer) {
    const RankRecord& record = *FindRecord(s.view, rank);
    verdict.evidence.push_back(
        {absl::StrFormat("Rank %d: %s", rank.value, record.last_words), 0, "", 0, "output"});
  }
  verdict.would_change.push_back("An exit status of these ranks that shows they ended later.");
  return {std::move(verdict)};
}

}  // namespace fathom::diagnosis::records
