#include "collector/cordon/policy/sightings.h"

namespace fathom::cordon {

bool TakenBack(const VerdictFact& verdict) {
  return !verdict.open && (verdict.closed_because.starts_with("superseded") ||
                           verdict.closed_because == "no longer supported");
}

void Sightings::Look(const View& view, const Limits& limits, MonoNs now) {
  std::map<std::string, Seen> open;
  std::map<std::string, MonoNs> taken_back;
  for (const VerdictFact& verdict : view.verdicts) {
    if (TakenBack(verdict)) {
      const auto before = taken_back_.find(verdict.id);
      taken_back[verdict.id] = before == taken_back_.end() ? now : before->second;
    }
    if (!verdict.open || verdict.grade != "established") continue;
    Seen seen{now, now, 1, verdict.node};
    const auto before = open_.find(verdict.id);
    if (before != open_.end() && before->second.node == verdict.node &&
        now - before->second.last <= Nanos::FromSeconds(limits.sight_gap_s)) {
      seen = before->second;
      seen.last = now;
      ++seen.looks;
    }
    open[verdict.id] = seen;
  }
  open_ = std::move(open);
  taken_back_ = std::move(taken_back);
}

bool Sightings::Confirmed(const VerdictFact& verdict, const Limits& limits, MonoNs now) const {
  const auto at = open_.find(verdict.id);
  if (at == open_.end()) return false;
  const Seen& seen = at->second;
  const Nanos age = seen.last - seen.first;
  return seen.looks >= 2 && now == seen.last && age >= Nanos::FromSeconds(limits.min_age_s) &&
         age >= Nanos::FromSeconds(limits.second_look_s);
}

Nanos Sightings::TakenBackFor(const std::string& episode, MonoNs now) const {
  const auto at = taken_back_.find(episode);
  return at == taken_back_.end() ? Nanos() : now - at->second;
}

}  // namespace fathom::cordon
