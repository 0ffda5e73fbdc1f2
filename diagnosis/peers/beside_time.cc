#include "diagnosis/peers/beside_time.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "diagnosis/model/lookup.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

// Below it what a rank shows outside says little of what it does inside. Source: ours; no device of
// a role is four times as fast as another.
constexpr double kLeastRatio = 0.25;

using Members = std::vector<RankIteration*>;

bool Tells(const RankIteration& rank) { return rank.beside.count > 0 || rank.unsure.count > 0; }

double Own(const RankIteration& rank) { return (rank.duration - rank.blocked).Seconds(); }
double Outside(const RankIteration& rank) { return Own(rank) - rank.beside.Seconds(); }

std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccd;
}

// Ranks that use communicators of the same sizes and descriptions as often.
std::map<std::uint64_t, Members> RolesOf(const std::vector<Group>& groups,
                                         IterationSummary& iteration) {
  std::map<std::uint64_t, Members> roles;
  for (RankIteration& rank : iteration.ranks) {
    std::uint64_t role = 0;
    for (const GroupIteration& use : rank.groups) {
      const auto at =
          std::lower_bound(groups.begin(), groups.end(), use.group,
                           [](const Group& group, GroupId id) { return group.id < id; });
      const bool known = at != groups.end() && at->id == use.group;
      const std::uint64_t kind =
          known ? Mix(SizeOf(*at), std::hash<std::string>{}(at->description)) : 0;
      role += Mix(kind, use.count);
    }
    roles[role].push_back(&rank);
  }
  return roles;
}

// Of what `longest` took more outside, the host's part: it did not wait for its device so much
// longer. All of it where that is not known.
double PauseOf(const RankIteration& longest, const RankIteration& rank) {
  const double more = std::max(0.0, Outside(longest) - Outside(rank));
  if (longest.device_wait.count == 0 || rank.device_wait.count == 0) return more;
  const double host =
      (longest.duration - longest.device_wait - (rank.duration - rank.device_wait)).Seconds();
  return std::clamp(host, 0.0, more);
}

double ByOutside(const RankIteration& longest, const RankIteration& rank) {
  const double reference = Outside(longest) - PauseOf(longest, rank);
  const double ratio = reference > 0 ? Outside(rank) / reference : 1;
  return Outside(rank) + longest.beside.Seconds() * std::clamp(ratio, kLeastRatio, 1.0);
}

double ByLead(const RankIteration& longest, const RankIteration& rank) {
  Nanos op;
  for (const GroupIteration& use : longest.groups) op = std::max(op, use.longest);
  return Own(longest) - std::max(0.0, (rank.leading - op).Seconds());
}

void SettleAt(double own, RankIteration& rank) {
  const Nanos blocked = rank.duration - Nanos::FromSeconds(own);
  rank.blocked = std::clamp(blocked, rank.blocked - rank.unsure, rank.blocked);
}

double LongestUntold(const Members& members) {
  double longest = 0;
  for (const RankIteration* rank : members) {
    if (!Tells(*rank)) longest = std::max(longest, Own(*rank));
  }
  return longest;
}

// Requires: some of them tell.
void SettleRole(const Members& members) {
  const RankIteration* longest = nullptr;
  for (const RankIteration* rank : members) {
    if (Tells(*rank) && (longest == nullptr || Own(*rank) > Own(*longest))) longest = rank;
  }
  const RankIteration known = *longest;
  const double untold = LongestUntold(members);
  // One that tells nothing may be who the others are ahead of: then nobody is known to be.
  const bool hidden = untold > Own(known);
  std::vector<double> own;
  for (RankIteration* rank : members) {
    if (!Tells(*rank)) continue;
    if (hidden) {
      SettleAt(untold, *rank);
    } else if (rank != longest) {
      SettleAt(std::min(ByOutside(known, *rank), ByLead(known, *rank)), *rank);
    }
    own.push_back(Own(*rank));
  }
  const double median = Median(std::move(own));
  for (RankIteration* rank : members) {
    if (Tells(*rank)) continue;
    rank->unsure = rank->blocked;
    SettleAt(median, *rank);
    rank->settled = true;
  }
}

}  // namespace

void SettleBlocked(const std::vector<Group>& groups, IterationSummary& iteration) {
  if (std::none_of(iteration.ranks.begin(), iteration.ranks.end(), Tells)) return;
  for (const auto& [role, members] : RolesOf(groups, iteration)) {
    const auto tells = [](const RankIteration* rank) { return Tells(*rank); };
    if (members.size() > 1 && std::any_of(members.begin(), members.end(), tells)) {
      SettleRole(members);
    }
  }
  for (RankIteration& rank : iteration.ranks) {
    rank.settled = rank.settled || Tells(rank);
    rank.unsure = Nanos();
  }
}

}  // namespace fathom::diagnosis
