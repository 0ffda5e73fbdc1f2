#include "collector/runs/account_keeper.h"

#include <algorithm>
#include <utility>

#include "diagnosis/model/lookup.h"
#include "diagnosis/peers/beside_time.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::collector {

using diagnosis::Charge;
using diagnosis::Loss;

// What the iterations that are to be counted are told with.
struct AccountKeeper::Fresh {
  std::vector<diagnosis::IterationSummary> iterations;
  std::vector<diagnosis::Group> groups;
  std::vector<Episode> episodes;
  double expected_s = 0;
};

namespace {

constexpr double kOver = -1;  // of a hang: its iteration has ended and is counted

double LongestOf(const diagnosis::IterationSummary& iteration) {
  Nanos longest;
  for (const auto& rank : iteration.ranks) longest = std::max(longest, rank.duration);
  return longest.Seconds();
}

bool OfNetwork(const diagnosis::Verdict& verdict) {
  return verdict.problem == diagnosis::ProblemClass::kCommunicationSlow;
}

// Who stands accused of it already, by a look that knew more. Null: nobody.
const Episode* StandsFor(const Charge& charge, const std::vector<Episode>& episodes) {
  const bool network = charge.group.value != 0;
  for (const Episode& episode : episodes) {
    const diagnosis::Verdict& verdict = episode.verdict;
    if (!episode.open() || !Convicts(verdict) || IsHang(verdict)) continue;
    if (OfNetwork(verdict) == network && diagnosis::Contains(verdict.entity.ranks, charge.rank))
      return &episode;
  }
  return nullptr;
}

Loss LossOf(const Episode& episode) {
  const diagnosis::Verdict& verdict = episode.verdict;
  Loss loss{.entity = verdict.entity, .cause = verdict.cause, .owner = verdict.owner};
  if (!loss.entity.ranks.empty()) loss.number = loss.entity.ranks.front().value;
  if (loss.entity.ranks.size() > AccountKeeper::kMostMembers) loss.entity.ranks.clear();
  return loss;
}

Loss LossOf(const Charge& charge, const std::vector<diagnosis::Group>& groups,
            const std::map<RankId, std::string>& nodes) {
  Loss loss{.cause = charge.cause, .owner = diagnosis::OwnerOf(charge.cause)};
  if (charge.group.value == 0) {
    loss.number = charge.rank.value;
    loss.entity.ranks = {charge.rank};
    const auto node = nodes.find(charge.rank);
    if (node != nodes.end()) loss.entity.node = node->second;
    return loss;
  }
  loss.number = charge.group.value;
  loss.entity.type = diagnosis::EntityType::kGroup;
  const auto at =
      std::lower_bound(groups.begin(), groups.end(), charge.group,
                       [](const diagnosis::Group& group, GroupId id) { return group.id < id; });
  const bool listed = at != groups.end() && at->id == charge.group &&
                      at->members.size() <= AccountKeeper::kMostMembers;
  if (listed) loss.entity.ranks = at->members;
  return loss;
}

// Of the ranks themselves that are charged.
std::map<RankId, std::string> NodesOf(const JobState& job, const std::vector<Charge>& charges) {
  std::map<RankId, std::string> nodes;
  if (charges.empty()) return nodes;
  job.Read([&](const RankTable& ranks, const GroupTable&, const SummaryWindow&) {
    for (const Charge& charge : charges) {
      const auto at = ranks.ranks().find(charge.rank);
      const bool wanted = charge.group.value == 0 && at != ranks.ranks().end();
      if (wanted) nodes[charge.rank] = ranks.NodeOf(at->second);
    }
  });
  return nodes;
}

// The iteration without `hung` of each rank: those who waited did so in communication.
void TakeOut(Nanos hung, diagnosis::IterationSummary& iteration) {
  for (diagnosis::RankIteration& rank : iteration.ranks) {
    const Nanos cut = std::min(hung, rank.duration);
    rank.duration = rank.duration - cut;
    rank.blocked = std::max(Nanos(), rank.blocked - cut);
  }
}

}  // namespace

AccountKeeper::Kept AccountKeeper::Begin(const JobFigures& figures) const {
  Kept kept;
  kept.incarnation = figures.incarnation;
  kept.started = figures.started;
  const auto bytes = parts_.store.FindAccount(figures.name);
  auto known = bytes ? AccountFromBytes(*bytes) : std::nullopt;
  if (!known || known->started != figures.started) return kept;
  kept.account = diagnosis::RunningAccount(std::move(known->state));
  kept.through = kept.resumed = known->through;
  kept.hang = std::move(known->hang);
  kept.hung_s = known->hung_s;
  return kept;
}

void AccountKeeper::Count(const JobState& job, diagnosis::IterationSummary iteration,
                          const Fresh& fresh, Kept& kept) const {
  kept.counted = std::max(kept.counted, iteration.index.value);
  if (kept.resumed.known() && iteration.begin <= kept.resumed) return;
  kept.through = std::max(kept.through, iteration.begin);
  // By two clocks, hence not exactly.
  if (kept.hung_s > 0 && LongestOf(iteration) >= kept.hung_s / 2) {
    TakeOut(Nanos::FromSeconds(std::exchange(kept.hung_s, kOver)), iteration);
  }
  const diagnosis::IterationAccount account =
      kept.accountant.Account(iteration, fresh.groups, fresh.expected_s);
  const auto ranks = static_cast<double>(account.ranks);
  const std::map<RankId, std::string> nodes = NodesOf(job, account.charges);
  std::vector<Loss> losses;
  for (const Charge& charge : account.charges) {
    const Episode* stands = StandsFor(charge, fresh.episodes);
    losses.push_back(stands != nullptr ? LossOf(*stands) : LossOf(charge, fresh.groups, nodes));
    losses.back().gpu_s = charge.seconds * ranks;
  }
  kept.account.Add({.index = account.index,
                    .begin = account.begin,
                    .used_gpu_s = account.used_s * ranks,
                    .unexplained_gpu_s = account.unexplained_s * ranks},
                   losses);
  kept.changed = true;
}

void AccountKeeper::CountHang(const JobFigures& figures, const std::vector<Episode>& episodes,
                              Kept& kept) const {
  for (const Episode& episode : episodes) {
    const diagnosis::Verdict& verdict = episode.verdict;
    const bool stands = episode.open() && Convicts(verdict) && IsHang(verdict);
    if (!stands || !verdict.since_time.known()) continue;
    if (std::exchange(kept.hang, episode.id) != episode.id) kept.hung_s = 0;
    if (kept.hung_s == kOver) return;
    const double since_s = (parts_.clock.Wall() - verdict.since_time).Seconds();
    const double gpu_s = (since_s - kept.hung_s) * figures.ranks;
    if (gpu_s <= 0) return;
    kept.hung_s = since_s;
    Loss loss = LossOf(episode);
    loss.gpu_s = gpu_s;
    kept.account.Add({.index = Iteration(figures.iteration),
                      .begin = verdict.since_time,
                      .iterations = 0,
                      .used_gpu_s = gpu_s},
                     {loss});
    kept.changed = true;
    return;
  }
}

void AccountKeeper::Take(const JobState& job, const JobFigures& figures, Kept& kept) const {
  Fresh fresh;
  {
    SummaryWindow::Snapshot settled;
    job.Read([&](const RankTable&, const GroupTable& groups, const SummaryWindow& window) {
      settled = window.SettledAfter(kept.counted, figures.ended);
      if (!settled.slots.empty()) fresh.groups = groups.View();
    });
    fresh.iterations = settled.View();
  }
  fresh.episodes = parts_.ledger.Of(figures.name);
  fresh.expected_s = figures.slow ? figures.baseline.Seconds() : 0;
  for (diagnosis::IterationSummary& each : fresh.iterations) {
    diagnosis::SettleBlocked(fresh.groups, each);
    Count(job, std::move(each), fresh, kept);
  }
  if (!figures.ended) CountHang(figures, fresh.episodes, kept);
}

void AccountKeeper::Looked(const JobState& job) {
  const Doing accounting(parts_.work, CentrePart::kAccounts);
  const JobFigures figures = job.Figures();
  if (figures.ended || figures.ranks == 0) return;
  const service::MutexLock lock(mutex_);
  auto at = kept_.find(figures.name);
  if (at == kept_.end()) {
    at = kept_.emplace(figures.name, Begin(figures)).first;
    ForgetEnded(figures.name);
  }
  Kept& kept = at->second;
  if (kept.incarnation != figures.incarnation) {
    kept.incarnation = figures.incarnation;
    kept.started = figures.started;
    kept.counted = -1;
    kept.hung_s = 0;
  }
  Take(job, figures, kept);
  if (kept.changed && parts_.clock.Mono() - kept.saved >= RestOf(parts_.work, kEvery))
    Save(figures.name, kept);
}

void AccountKeeper::Save(const std::string& job, Kept& kept) {
  const Doing writing(parts_.work, CentrePart::kWrites);
  kept.saved = parts_.clock.Mono();
  kept.changed = false;
  const std::string bytes =
      ToBytes({kept.account.state(), kept.started, kept.through, kept.hang, kept.hung_s});
  // Counted, and shown as degraded.
  parts_.store.KeepAccount(job, parts_.clock.Wall(), bytes).IgnoreError();
}

const diagnosis::RunningAccount::State* AccountKeeper::FindEnded(const std::string& job) const {
  const auto at = std::find_if(ended_.begin(), ended_.end(),
                               [&](const auto& ended) { return ended.first == job; });
  return at == ended_.end() ? nullptr : &at->second;
}

void AccountKeeper::ForgetEnded(const std::string& job) {
  std::erase_if(ended_, [&](const auto& ended) { return ended.first == job; });
}

void AccountKeeper::Ended(const JobState& job) {
  const service::MutexLock lock(mutex_);
  const auto at = kept_.find(job.name());
  if (at == kept_.end()) return;
  Take(job, job.Figures(), at->second);
  if (ended_.size() >= kMostEnded) ended_.pop_front();
  ended_.emplace_back(job.name(), at->second.account.state());
  kept_.erase(at);
  parts_.store.ForgetAccount(job.name()).IgnoreError();
}

void AccountKeeper::Forget(const std::string& job) {
  const service::MutexLock lock(mutex_);
  kept_.erase(job);
}

void AccountKeeper::SaveAll() {
  const service::MutexLock lock(mutex_);
  for (auto& [job, kept] : kept_) {
    if (kept.changed) Save(job, kept);
  }
}

std::optional<diagnosis::RunningAccount::State> AccountKeeper::Of(const std::string& job) const {
  const service::MutexLock lock(mutex_);
  const auto kept = kept_.find(job);
  const diagnosis::RunningAccount::State* state =
      kept != kept_.end() ? &kept->second.account.state() : FindEnded(job);
  if (state == nullptr || (state->iterations == 0 && state->used_gpu_s == 0)) return std::nullopt;
  return *state;
}

}  // namespace fathom::collector
