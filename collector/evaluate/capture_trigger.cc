#include "collector/evaluate/capture_trigger.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/evaluate/tell_functions.h"
#include "diagnosis/peers/peers.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::collector {
namespace {

constexpr Nanos kHour{3600ll * 1'000'000'000};
constexpr std::size_t kRoleIterations = 8;
constexpr std::size_t kRecentIterations = 9;
constexpr double kIterations = 10;   // of a capture, where they take longer than its usual seconds
constexpr double kMostSeconds = 30;  // that an agent records

std::vector<RankId> Alive(const diagnosis::JobView& view) {
  std::vector<RankId> ranks;
  for (const diagnosis::RankFacts& facts : view.ranks) {
    if (facts.state != diagnosis::ProcessState::kGone) ranks.push_back(facts.rank);
  }
  return ranks;
}

// Of those with the role of one of the accused, some, spread over all of them.
std::vector<RankId> PeersOfRoles(const diagnosis::JobView& view, const std::set<RankId>& accused,
                                 std::size_t most) {
  const diagnosis::Peers peers = diagnosis::PeersOf(view, kRoleIterations);
  std::set<std::size_t> roles;
  for (std::size_t i = 0; i < peers.ranks.size(); ++i) {
    if (accused.contains(peers.ranks[i])) roles.insert(peers.role[i]);
  }
  std::vector<RankId> alike;
  for (std::size_t i = 0; i < peers.ranks.size(); ++i) {
    const bool same = roles.contains(peers.role[i]);
    if (same && !accused.contains(peers.ranks[i])) alike.push_back(peers.ranks[i]);
  }
  std::vector<RankId> chosen;
  const std::size_t count = std::min(most, alike.size());
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(alike[i * alike.size() / count]);
  return chosen;
}

// Enough iterations that what one function takes in them is no chance.
double SecondsFor(const JobState& job) {
  Nanos iteration;
  job.Read([&](const RankTable&, const GroupTable&, const SummaryWindow& window) {
    iteration = window.RecentDuration(kRecentIterations);
  });
  return std::min(kMostSeconds, kIterations * iteration.Seconds());
}

}  // namespace

CaptureTrigger::Verdicts CaptureTrigger::Waiting(const std::string& job,
                                                 const std::vector<Episode>& episodes, MonoNs now) {
  Verdicts waiting;
  for (const Episode& episode : episodes) {
    if (!WantsCapture(episode)) continue;
    const Tried& tried = tried_[job][episode.id];
    if (tried.times >= kTries || (tried.times > 0 && now - tried.last < kAgain)) continue;
    waiting.push_back(&episode);
  }
  return waiting;
}

bool CaptureTrigger::Limited(const JobState& job, const Verdicts& waiting, MonoNs now) {
  const std::size_t begun = parts_.captures.BegunSince(job.name(), now - kHour);
  const double share = PaceOf(parts_.work, CentreKnob::kCaptures);
  const double most = std::max(1.0, share * static_cast<double>(settings_.per_hour));
  if (static_cast<double>(begun) < most) return false;
  for (const Episode* episode : waiting) {
    Tried& tried = tried_[job.name()][episode->id];
    if (std::exchange(tried.limited, true)) continue;
    ++limited_;
    parts_.say(absl::StrCat("job ", job.name(), ": no capture of stacks for verdict ", episode->id,
                            ": captures_per_hour (", settings_.per_hour,
                            share < 1 ? "; fewer by the budget" : "", ") is reached"));
  }
  return true;
}

CaptureWish CaptureTrigger::WishFor(const JobState& job, const Verdicts& waiting) const {
  const diagnosis::JobView view = job.View(parts_.connected);
  CaptureWish wish;
  std::set<RankId> accused;
  for (const Episode* episode : waiting) {
    const std::vector<RankId>& ranks = episode->verdict.entity.ranks;
    accused.insert(ranks.begin(), ranks.end());
    const diagnosis::Cause cause = episode->verdict.cause;
    wish.workers = wish.workers || cause == diagnosis::Cause::kDataLoader;
  }
  wish.accused.assign(accused.begin(), accused.end());
  const std::vector<RankId> alive = Alive(view);
  std::set<RankId> all = accused;
  const std::vector<RankId> others =
      alive.size() <= kAllUpTo ? alive : PeersOfRoles(view, accused, kPeers);
  all.insert(others.begin(), others.end());
  wish.ranks.assign(all.begin(), all.end());
  wish.seconds = std::max(wish.seconds, SecondsFor(job));
  return wish;
}

void CaptureTrigger::Judge(const JobState& job) {
  const auto capture = parts_.captures.TakeFinished(job.name());
  if (capture == nullptr) return;
  const FunctionsTold told =
      TellFunctions(job.View(parts_.connected), *capture, parts_.ledger, parts_.clock, parts_.say);
  named_ += told.named;
  open_ += told.open;
}

void CaptureTrigger::Forget(const std::string& job) {
  tried_.erase(job);
  parts_.captures.Forget(job);
}

void CaptureTrigger::Looked(const JobState& job) {
  const Doing comparing(parts_.work, CentrePart::kCaptures);
  Judge(job);
  if (settings_.mode != "on") return;
  const std::vector<Episode> episodes = parts_.ledger.Of(job.name());
  const MonoNs now = parts_.clock.Mono();
  const Verdicts waiting = Waiting(job.name(), episodes, now);
  if (waiting.empty() || parts_.captures.UnderWay(job.name()) || Limited(job, waiting, now)) return;
  const CaptureWish wish = WishFor(job, waiting);
  const absl::Status asked = parts_.captures.Ask(job, wish);
  ++(asked.ok() ? asked_ : failed_);
  for (const Episode* episode : waiting) {
    Tried& tried = tried_[job.name()][episode->id];
    ++tried.times;
    tried.last = now;
    parts_.say(absl::StrCat("job ", job.name(), ": capture of the stacks of ",
                            diagnosis::RanksInWords(wish.ranks), " for ", wish.seconds,
                            " s, for verdict ", episode->id, ": ",
                            asked.ok() ? "asked for" : std::string(asked.message())));
  }
}

}  // namespace fathom::collector
