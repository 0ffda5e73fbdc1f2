#include "diagnosis/hang/records/situation.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/evidence/cost.h"
#include "diagnosis/hang/place/wait_chain.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis::records {
namespace {

constexpr std::size_t kWaitsShown = 3;
constexpr std::size_t kSitesShown = 4;
constexpr Nanos kWorthTelling{1'000'000'000};  // entries of one moment tell no cost

bool Shares(const std::vector<RankId>& a, const std::vector<RankId>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](RankId r) { return std::find(b.begin(), b.end(), r) != b.end(); });
}

// The first instance that waits for these ranks, by time of entry.
WallNs Since(const Situation& s, const std::vector<RankId>& ranks) {
  WallNs since;
  for (const StuckInstance& instance : s.graph.instances) {
    const bool concerns = Shares(instance.absent, ranks) || Shares(instance.unknown, ranks) ||
                          Shares(instance.inside, ranks);
    if (!concerns || !instance.since.known() || !instance.done.empty()) continue;
    if (!since.known() || instance.since < since) since = instance.since;
  }
  return since;
}

std::vector<Wait> WaitsOf(const RecordGraph& graph) {
  std::vector<Wait> waits;
  for (const StuckInstance& stuck : graph.instances) {
    if (!stuck.done.empty()) continue;
    Wait wait{stuck.group, stuck.kind, kNoWaitNumber, {}, stuck.inside, stuck.absent};
    wait.held_by.insert(wait.held_by.end(), stuck.unknown.begin(), stuck.unknown.end());
    if (stuck.sequence != kNoSequence)
      wait.number = static_cast<std::int64_t>(stuck.sequence.value) + 1;
    waits.push_back(std::move(wait));
  }
  return waits;
}

}  // namespace

bool Situation::stuck() const {
  return std::any_of(graph.instances.begin(), graph.instances.end(),
                     [](const StuckInstance& instance) { return instance.done.empty(); });
}

bool Situation::ended() const {
  return std::any_of(view.records.begin(), view.records.end(), [](const RankRecord& record) {
    return record.ended == EndedBy::kPeerLost || record.ended == EndedBy::kOwnError;
  });
}

bool Situation::point_to_point_hidden() const {
  return std::any_of(view.signals.begin(), view.signals.end(), [](const SignalState& signal) {
    return signal.name == "point-to-point ops" && signal.level == SignalState::Level::kOff;
  });
}

bool Situation::members_in_doubt() const {
  return std::any_of(view.signals.begin(), view.signals.end(), [](const SignalState& signal) {
    return signal.name == "members of groups" && signal.level != SignalState::Level::kOn;
  });
}

std::vector<RankId> Situation::incomplete() const {
  std::vector<RankId> ranks;
  for (const RankRecord& record : view.records) {
    if (record.cut || record.extent == RecordExtent::kMissing) ranks.push_back(record.rank);
  }
  return ranks;
}

std::vector<RankId> Situation::unrecorded() const {
  std::vector<RankId> ranks;
  for (const RankRecord& record : view.records) {
    if (record.extent == RecordExtent::kMissing) ranks.push_back(record.rank);
  }
  return ranks;
}

bool MayWaitForOthers(const Situation& s, const std::vector<RankId>& behind) {
  return behind.size() > 1 || !IsSynchronising(LeftBehindIn(s.graph, behind.front())->kind);
}

std::string OpName(const JobView& view, const StuckInstance& instance) {
  const Group* group = FindGroup(view, instance.group);
  // Ops that were launched as one tell no kind.
  const bool told = instance.kind != CollectiveKind::kUnknown;
  std::string name(told ? CollectiveKindName(instance.kind) : "op");
  if (instance.sequence != kNoSequence) absl::StrAppend(&name, " ", instance.sequence.value + 1);
  if (group == nullptr) return name;
  if (group->description.empty()) return absl::StrCat(name, " of group ", group->name);
  return absl::StrCat(name, " of ", group->description, " (", group->name, ")");
}

Verdict Accuse(const Situation& s, Cause cause, std::vector<RankId> ranks) {
  Verdict verdict;
  verdict.cause = cause;
  verdict.problem = ClassOf(cause);
  verdict.owner = OwnerOf(cause);
  verdict.entity.type = EntityType::kRank;
  verdict.since_time = Since(s, ranks);
  const Nanos stuck = s.view.now - verdict.since_time;  // to the newest op, of those records tell
  if (verdict.since_time.known() && stuck >= kWorthTelling) {
    verdict.cost = CostOfHang(s.view, stuck);
  }
  for (const auto& [rank, waits] : s.graph.waits) {
    if (!Contains(ranks, rank)) verdict.victims.push_back(rank);
  }
  verdict.waits = ChainBehind(s.view, ranks, WaitsOf(s.graph));
  if (!ranks.empty()) {
    if (ranks.size() == 1) verdict.entity.node = NodeOf(s.view, ranks.front());
    verdict.entity.ranks = ranks;
    AdviseOnRank(s.view, ranks.front(), verdict);
  }
  return verdict;
}

void AddChainBehindCall(const Situation& s, GroupId group, Sequence sequence, Verdict& verdict) {
  const auto& odd = verdict.entity.ranks;
  std::vector<Wait> waits = WaitsOf(s.graph);
  for (Wait& wait : waits) {
    const auto number = static_cast<std::int64_t>(sequence.value) + 1;
    if (wait.group != group || wait.number != number) continue;
    std::erase_if(wait.inside, [&](RankId rank) {
      return std::find(odd.begin(), odd.end(), rank) != odd.end();
    });
    wait.held_by.insert(wait.held_by.end(), odd.begin(), odd.end());
  }
  verdict.waits = ChainBehind(s.view, odd, waits);
}

void AddSites(const Situation& s, const std::vector<RankId>& ranks, GroupId group,
              Sequence sequence, Verdict& verdict) {
  std::map<std::string, std::vector<RankId>> at;
  for (const RankId rank : ranks) {
    const RankRecord* record = FindRecord(s.view, rank);
    if (record == nullptr) continue;
    const auto op = std::find_if(record->ops.rbegin(), record->ops.rend(), [&](const EnteredOp& o) {
      return sequence == kNoSequence ? o.open : o.group == group && o.sequence == sequence;
    });
    if (op != record->ops.rend() && !op->site.empty()) at[op->site].push_back(rank);
  }
  std::vector<std::pair<std::vector<RankId>, std::string>> sides;
  for (auto& [site, of] : at) sides.emplace_back(std::move(of), site);
  std::sort(sides.begin(), sides.end());
  for (std::size_t i = 0; i < std::min(sides.size(), kSitesShown); ++i) {
    const auto& [of, site] = sides[i];
    verdict.evidence.push_back({absl::StrFormat("%s called it in %s.", RanksAtStart(of), site),
                                static_cast<double>(of.size()), "ranks", 0, "flight recorder"});
  }
}

void AddWaits(const Situation& s, const std::vector<RankId>& ranks, Verdict& verdict) {
  std::vector<const StuckInstance*> waits;
  for (const StuckInstance& instance : s.graph.instances) {
    const bool held = Shares(instance.absent, ranks) || Shares(instance.unknown, ranks);
    if (held && instance.done.empty()) waits.push_back(&instance);
  }
  std::stable_sort(waits.begin(), waits.end(), [](const auto* a, const auto* b) {
    return a->inside.size() > b->inside.size();
  });
  std::set<std::pair<GroupId, std::vector<RankId>>> told;  // later ops of the group say no more
  for (const StuckInstance* each : waits) {
    const StuckInstance& wait = *each;
    if (told.size() >= kWaitsShown || !told.insert({wait.group, wait.inside}).second) continue;
    std::vector<RankId> held_up_by = wait.absent;
    held_up_by.insert(held_up_by.end(), wait.unknown.begin(), wait.unknown.end());
    std::sort(held_up_by.begin(), held_up_by.end());
    verdict.evidence.push_back(
        {absl::StrFormat("%s %s in %s; not in it: %s", RanksAtStart(wait.inside),
                         wait.inside.size() == 1 ? "waits" : "wait", OpName(s.view, wait),
                         RanksInWords(held_up_by)),
         static_cast<double>(wait.inside.size()), "ranks",
         static_cast<double>(wait.inside.size() + held_up_by.size()), "flight recorder"});
  }
}

}  // namespace fathom::diagnosis::records
