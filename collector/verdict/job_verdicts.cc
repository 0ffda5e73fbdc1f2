#include "collector/verdict/job_verdicts.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "absl/strings/str_replace.h"
#include "diagnosis/functions/name_function.h"
#include "diagnosis/model/short_id.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::collector {
namespace {

std::string KeyOf(const diagnosis::Verdict& verdict) {
  const diagnosis::Entity& entity = verdict.entity;
  std::string key(ToString(verdict.cause));
  key.append("|").append(ToString(entity.type)).append("|");
  for (const RankId rank : entity.ranks) key.append(std::to_string(rank.value)).append(",");
  key.append("|").append(entity.node).append("|");  // its GPU follows from the rank
  key.append("|").append(entity.link_src).append(">").append(entity.link_dst);
  return key;
}

// Beside what a diagnosis may say of the same job.
std::string HistoryKeyOf(const diagnosis::Verdict& verdict) { return KeyOf(verdict) + "|history"; }

// As Stand was told: no diagnosis of a running job says so.
bool IsOfHistory(const diagnosis::Verdict& verdict) {
  return verdict.cause == diagnosis::Cause::kRegression && verdict.from_start;
}

std::string IdOf(const JobMoment& now, const std::string& key, Iteration onset) {
  return diagnosis::ShortId('v', now.job + "|" + std::to_string(now.started.ns) + "|" + key + "|" +
                                     std::to_string(onset.value));
}

// The node of a culprit that cannot be seen now; null if all can.
const std::string* OutOfSight(const diagnosis::Verdict& verdict, const JobMoment& now) {
  for (const RankId rank : verdict.entity.ranks) {
    if (const auto at = now.out_of_sight.find(rank); at != now.out_of_sight.end()) {
      return &at->second;
    }
  }
  return nullptr;
}

// It confirms nothing and speaks against nothing: a hang alone is confirmed by silence.
bool SeenAlready(const diagnosis::Verdict& verdict, const JobMoment& now) {
  return now.repeated && !IsHang(verdict);
}

// Worth telling anew: more than rounding changed.
bool Differs(const diagnosis::Verdict& a, const diagnosis::Verdict& b) {
  const auto far = [](double x, double y) {
    return std::abs(x - y) > 0.05 * std::max({std::abs(x), std::abs(y), 1e-9});
  };
  return a.sentence != b.sentence || a.entity.gpu != b.entity.gpu || a.victims != b.victims ||
         a.evidence.size() != b.evidence.size() || far(a.cost.slowdown, b.cost.slowdown) ||
         far(a.cost.gpu_hours, b.cost.gpu_hours);
}

// What comes in every so many iterations is not over before it was due some times and did not come.
Nanos TimeToComeBack(const diagnosis::Verdict& verdict, const diagnosis::Suspicion& suspicion) {
  constexpr std::int64_t kPeriods = 4;
  return Nanos(kPeriods * verdict.every * suspicion.expected.count);
}

// It is about what the job takes beyond its episode, which goes on without it.
bool IsOfRise(const diagnosis::Verdict& verdict, const diagnosis::Suspicion& suspicion) {
  return !suspicion.rise.empty() && verdict.since_iteration >= suspicion.rise.front().onset;
}

// What was before the episode's present onset were spikes, and the verdict is of what lasts.
bool DatedLater(const diagnosis::Verdict& verdict, const diagnosis::Verdict& kept,
                Iteration episode) {
  return verdict.since_iteration == episode && kept.since_iteration < episode;
}

// `kept` was found among its peers, before the job had a past or at times only. That past holds the
// fault, so an onset after it is invented; unless the job loses twice as much since then.
bool WasSoBefore(const diagnosis::Verdict& verdict, const diagnosis::Verdict& kept) {
  const bool by_peers = kept.from_start || kept.every > 1;
  const bool by_past = !verdict.from_start && verdict.every <= 1;
  return by_peers && by_past && verdict.cost.slowdown - 1 < 2 * (kept.cost.slowdown - 1);
}

// The window forgets when it began; `kept` knows.
diagnosis::Verdict DatedAs(const diagnosis::Verdict& kept, diagnosis::Verdict verdict) {
  verdict.sentence =
      absl::StrReplaceAll(verdict.sentence, {{diagnosis::SinceInWords(verdict.since_iteration),
                                              diagnosis::SinceInWords(kept.since_iteration)}});
  verdict.since_iteration = kept.since_iteration;
  verdict.since_time = kept.since_time;
  return verdict;
}

}  // namespace

Changes JobVerdicts::Update(const JobMoment& now, const diagnosis::Suspicion& suspicion,
                            const diagnosis::Diagnosis* diagnosis) {
  Changes changes;
  if (diagnosis == nullptr) {
    if (!now.repeated) candidates_.clear();
    CloseRegular(now, suspicion, changes);
    return changes;
  }
  for (auto& [key, candidate] : candidates_) candidate.seen_now = false;
  for (auto& [key, live] : open_) {
    if (!live.of_history && !SeenAlready(live.episode.verdict, now)) ++live.missed;
  }
  for (const auto& verdict : diagnosis->verdicts) See(verdict, suspicion, now, changes);
  std::erase_if(candidates_, [](const auto& entry) { return !entry.second.seen_now; });
  CloseUnseen(now, suspicion, changes);
  return changes;
}

void JobVerdicts::Foresee(const diagnosis::Diagnosis& ahead) {
  for (const diagnosis::Verdict& verdict : ahead.verdicts) {
    const std::string key = KeyOf(verdict);
    if (!open_.contains(key)) candidates_[key] = {verdict, 1, true};
  }
}

void JobVerdicts::See(const diagnosis::Verdict& verdict, const diagnosis::Suspicion& suspicion,
                      const JobMoment& now, Changes& changes) {
  const std::string key = KeyOf(verdict);
  if (const auto at = open_.find(key); at != open_.end()) {
    at->second.of_rise = IsOfRise(verdict, suspicion);
    Refresh(at->second, verdict, suspicion.onset, now, changes);
    return;
  }
  if (Live* known = KnownCause(verdict)) {
    known->missed = 0;
    known->last_seen = now.mono;
    return;
  }
  Candidate& candidate = candidates_[key];
  candidate.verdict = verdict;
  candidate.seen_now = true;
  if (candidate.seen > 0 && SeenAlready(verdict, now)) return;
  if (++candidate.seen < kOpenAfter) return;
  candidates_.erase(key);
  Open(key, verdict, now, changes);
  open_[key].of_rise = IsOfRise(verdict, suspicion);
}

JobVerdicts::Live* JobVerdicts::KnownCause(const diagnosis::Verdict& verdict) {
  if (verdict.cause != diagnosis::Cause::kUnknown || verdict.entity.ranks.empty()) return nullptr;
  for (auto& [key, live] : open_) {
    const diagnosis::Verdict& open = live.episode.verdict;
    const bool same = open.entity.type == verdict.entity.type &&
                      open.entity.ranks == verdict.entity.ranks && IsHang(open) == IsHang(verdict);
    if (same) return &live;
  }
  return nullptr;
}

void JobVerdicts::Open(const std::string& key, const diagnosis::Verdict& verdict,
                       const JobMoment& now, Changes& changes) {
  Live live;
  live.episode.id = IdOf(now, key, verdict.since_iteration);
  live.episode.job = now.job;
  live.episode.verdict = verdict;
  live.episode.opened = live.episode.updated = live.episode.seen = now.wall;
  live.episode.authenticated = now.authenticated;
  live.last_seen = live.last_told = now.mono;
  // The same trouble again before anybody forgot it: the episode goes on.
  std::erase_if(closed_, [&](const Episode& old) {
    if (old.id != live.episode.id) return false;
    live.episode.opened = old.opened;
    live.episode.detail = old.detail;
    live.episode.proof = old.proof;
    return true;
  });
  diagnosis::TellFunction(live.episode.detail, live.episode.verdict);
  TellProof(live.episode.proof, live.episode.verdict);
  changes.emplace_back(VerdictChange::kOpened, live.episode);
  open_[key] = std::move(live);
}

void JobVerdicts::Refresh(Live& live, diagnosis::Verdict verdict, Iteration episode,
                          const JobMoment& now, Changes& changes) {
  diagnosis::TellFunction(live.episode.detail, verdict);
  TellProof(live.episode.proof, verdict);
  diagnosis::Verdict& kept = live.episode.verdict;
  const bool lower = verdict.grade < kept.grade;
  live.missed = 0;
  live.last_seen = now.mono;
  if (!SeenAlready(verdict, now)) live.episode.seen = now.wall;
  live.episode.authenticated = live.episode.authenticated && now.authenticated;
  if (!lower) live.lower_grades = 0;
  if (lower && !SeenAlready(verdict, now)) ++live.lower_grades;
  if (lower && live.lower_grades < kFallAfter) return;
  const bool graded = verdict.grade != kept.grade;
  const bool due = now.mono - live.last_told >= kUpdateGap;
  if (!graded && !live.says_unseen && !(due && Differs(verdict, kept))) return;
  const double hours = kept.cost.gpu_hours;
  if (WasSoBefore(verdict, kept)) {
    kept.cost.gpu_hours = verdict.cost.gpu_hours;
    kept.grade = verdict.grade;
  } else {
    kept = DatedLater(verdict, kept, episode) ? verdict : DatedAs(kept, verdict);
  }
  kept.cost.gpu_hours = std::max(kept.cost.gpu_hours, hours);  // lost is lost
  live.episode.updated = now.wall;
  live.last_told = now.mono;
  live.lower_grades = 0;
  live.adopted = live.says_unseen = false;
  changes.emplace_back(VerdictChange::kUpdated, live.episode);
}

Changes JobVerdicts::Explain(const std::string& id, const diagnosis::Detail& detail, WallNs wall,
                             MonoNs mono) {
  Changes changes;
  for (auto& [key, live] : open_) {
    if (live.episode.id != id || live.episode.detail.known()) continue;
    live.episode.detail = detail;
    diagnosis::TellFunction(detail, live.episode.verdict);
    live.episode.updated = wall;
    live.last_told = mono;
    changes.emplace_back(VerdictChange::kUpdated, live.episode);
  }
  return changes;
}

Changes JobVerdicts::Prove(const Prover& prover, WallNs wall, MonoNs mono) {
  Changes changes;
  const auto prove = [&](Episode& episode) {
    const ProbeProof proof = prover(episode);
    if (!proof.known() || proof.state == episode.proof.state) return false;
    episode.proof = proof;
    TellProof(proof, episode.verdict);
    episode.updated = wall;
    changes.emplace_back(VerdictChange::kUpdated, episode);
    return true;
  };
  for (auto& [key, live] : open_) {
    if (prove(live.episode)) live.last_told = mono;
  }
  for (Episode& episode : closed_) prove(episode);
  return changes;
}

const JobVerdicts::Live* JobVerdicts::Successor(const std::string& key) const {
  const bool hang = IsHang(open_.at(key).episode.verdict);
  const bool convicts = Convicts(open_.at(key).episode.verdict);
  const Live* best = nullptr;
  for (const auto& [other, live] : open_) {
    // Being slow does not explain a hang, nor the other way round; a lead explains no better than
    // a conviction.
    if (other == key || live.of_history || live.missed > 0 || IsHang(live.episode.verdict) != hang)
      continue;
    if (convicts && !Convicts(live.episode.verdict)) continue;
    if (best == nullptr || best->episode.verdict.grade < live.episode.verdict.grade) best = &live;
  }
  return best;
}

void JobVerdicts::CloseUnseen(const JobMoment& now, const diagnosis::Suspicion& suspicion,
                              Changes& changes) {
  std::vector<std::pair<std::string, std::string>> unseen;  // key, why
  for (auto& [key, live] : open_) {
    if (!live.last_seen.known()) live.last_seen = now.mono;
    if (live.missed < kCloseAfter) continue;
    const bool fallen = live.of_rise && suspicion.rise.empty();
    const bool well = !suspicion.slow && !suspicion.differs;
    const bool over = IsHang(live.episode.verdict) ? !suspicion.stalled : well || fallen;
    const Live* successor = over ? nullptr : Successor(key);
    if (!over && successor == nullptr && KeepUnseen(live, now, changes)) continue;
    // A noisy moment is no change of mind: without a better explanation it is given time.
    const Nanos gap = std::max(over || successor != nullptr ? kCloseGap : kDoubtGap,
                               TimeToComeBack(live.episode.verdict, suspicion));
    if (now.mono - live.last_seen < gap) continue;
    live.episode.superseded = successor != nullptr;
    std::string why = over ? "recovered" : "no longer supported";
    if (successor != nullptr) why = "superseded by " + successor->episode.id;
    unseen.emplace_back(key, std::move(why));
  }
  for (const auto& [key, why] : unseen) Close(key, now, why, changes);
}

std::optional<diagnosis::Evidence> JobVerdicts::WhyUnseen(const Live& live, const JobMoment& now) {
  const diagnosis::Verdict& verdict = live.episode.verdict;
  const std::string* node = IsHang(verdict) ? OutOfSight(verdict, now) : nullptr;
  if (node != nullptr) {
    return diagnosis::Evidence{
        "The agent of " + *node + " is out of reach: this is what was known last.", 0, "", 0,
        "agents"};
  }
  if (!live.adopted || !now.recalled || IsHang(verdict)) return std::nullopt;
  return diagnosis::Evidence{
      "The collector was restarted since, and what was fetched from before the onset is gone: the "
      "job is as slow, who holds it back was known last.",
      0, "", 0, "collector"};
}

bool JobVerdicts::KeepUnseen(Live& live, const JobMoment& now, Changes& changes) {
  const std::optional<diagnosis::Evidence> why = WhyUnseen(live, now);
  if (!why) return false;
  if (live.adopted) live.last_seen = now.mono;
  if (live.says_unseen) return true;
  live.says_unseen = true;
  live.episode.verdict.counter_evidence.push_back(*why);
  live.episode.updated = now.wall;
  live.last_told = now.mono;
  changes.emplace_back(VerdictChange::kUpdated, live.episode);
  return true;
}

// An adopted verdict whose baseline is gone, or has not been compared with yet: it gets the longer
// time.
bool JobVerdicts::Unfounded(const Live& live, const JobMoment& now,
                            const diagnosis::Suspicion& suspicion) {
  return live.adopted && !(now.recalled && suspicion.settled);
}

void JobVerdicts::CloseRegular(const JobMoment& now, const diagnosis::Suspicion& suspicion,
                               Changes& changes) {
  std::vector<std::string> over;
  for (auto& [key, live] : open_) {
    if (live.of_history) continue;
    if (!live.last_seen.known()) live.last_seen = now.mono;
    const bool hang = IsHang(live.episode.verdict) && !live.adopted;
    const Nanos gap = hang || suspicion.settled ? kCloseGap : kRegularGap;
    const Nanos wait = Unfounded(live, now, suspicion)
                           ? kRegularGap * 12
                           : std::max(gap, TimeToComeBack(live.episode.verdict, suspicion));
    if (now.mono - live.last_seen >= wait) over.push_back(key);
  }
  for (const std::string& key : over) {
    const bool unfounded = Unfounded(open_[key], now, suspicion);
    Close(key, now, unfounded ? "not seen again after the collector restarted" : "recovered",
          changes);
  }
}

void JobVerdicts::Close(const std::string& key, const JobMoment& now, const std::string& because,
                        Changes& changes) {
  Episode episode = std::move(open_[key].episode);
  open_.erase(key);
  episode.closed = episode.updated = now.wall;
  episode.until_iteration = now.iteration;
  episode.closed_because = because;
  const Nanos lasted = now.wall - episode.verdict.since_time;
  if (because == "recovered" && IsHang(episode.verdict) && episode.verdict.since_time.known()) {
    // The job moved again before the verdict closed, by up to the gap that it waits.
    episode.closed_because += " after " + std::to_string(std::llround(lasted.Seconds())) + " s";
  }
  changes.emplace_back(VerdictChange::kClosed, episode);
  closed_.push_back(std::move(episode));
  if (closed_.size() > kMaxEpisodes) closed_.erase(closed_.begin());
}

Changes JobVerdicts::Conclude(const JobMoment& now, const diagnosis::Diagnosis& last) {
  Changes changes;
  // Who hung has been named; how the processes went afterwards is no news.
  const bool explained = std::any_of(open_.begin(), open_.end(), [](const auto& entry) {
    const diagnosis::Verdict& verdict = entry.second.episode.verdict;
    return IsHang(verdict) && diagnosis::Convicts(verdict);
  });
  for (const diagnosis::Verdict& verdict : last.verdicts) {
    if (explained) break;
    const std::string key = KeyOf(verdict);
    // Only deaths are news at the end; all else had its time to be seen twice.
    const bool death = verdict.cause == diagnosis::Cause::kProcessDead ||
                       verdict.cause == diagnosis::Cause::kMismatch;
    if (!death || !Convicts(verdict) || open_.contains(key)) continue;
    Open(key, verdict, now, changes);
  }
  Changes closed = CloseAll(now, "the job ended");
  changes.insert(changes.end(), closed.begin(), closed.end());
  return changes;
}

Changes JobVerdicts::CloseAll(const JobMoment& now, const std::string& because) {
  Changes changes;
  candidates_.clear();
  while (!open_.empty()) Close(std::string(open_.begin()->first), now, because, changes);
  return changes;
}

Changes JobVerdicts::Stand(const JobMoment& now, const diagnosis::Verdict& verdict) {
  Changes changes;
  const std::string key = HistoryKeyOf(verdict);
  const auto at = open_.find(key);
  if (at == open_.end()) {
    Open(key, verdict, now, changes);
    open_[key].of_history = true;
    return changes;
  }
  Episode& episode = at->second.episode;
  episode.verdict = verdict;
  episode.updated = episode.seen = now.wall;
  at->second.last_told = now.mono;
  changes.emplace_back(VerdictChange::kUpdated, episode);
  return changes;
}

Changes JobVerdicts::Withdraw(const JobMoment& now, const std::string& because) {
  Changes changes;
  std::vector<std::string> over;
  for (const auto& [key, live] : open_) {
    if (live.of_history) over.push_back(key);
  }
  for (const std::string& key : over) Close(key, now, because, changes);
  return changes;
}

bool JobVerdicts::Adopt(Episode episode) {
  Live live;
  live.of_history = IsOfHistory(episode.verdict);
  const std::string key = live.of_history ? HistoryKeyOf(episode.verdict) : KeyOf(episode.verdict);
  live.episode = std::move(episode);
  live.adopted = true;
  return open_.try_emplace(key, std::move(live)).second;
}

bool JobVerdicts::HasOpen() const { return !open_.empty(); }

std::vector<Episode> JobVerdicts::Episodes() const {
  std::vector<Episode> all;
  for (const auto& [key, live] : open_) all.push_back(live.episode);
  std::stable_sort(all.begin(), all.end(), [](const Episode& a, const Episode& b) {
    if (a.verdict.grade != b.verdict.grade) return a.verdict.grade > b.verdict.grade;
    return a.verdict.posterior_odds > b.verdict.posterior_odds;
  });
  all.insert(all.end(), closed_.rbegin(), closed_.rend());
  return all;
}

}  // namespace fathom::collector
