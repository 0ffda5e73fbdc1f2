#include "collector/job/state/job_state.h"

#include <algorithm>
#include <utility>

#include "collector/admission/limits.h"
#include "collector/job/rows/row_conversion.h"
#include "diagnosis/engine/diagnose.h"
#include "diagnosis/watch/stall.h"
#include "fathom/v1/health.pb.h"
#include "fathom/v1/job.pb.h"
#include "fathom/v1/row.pb.h"
#include "fathom/v1/summary.pb.h"

namespace fathom::collector {
namespace {

// Times the usual iteration: half of the smallest step that is ever looked into.
constexpr double kRise = 1.0025;

// Agents tell a peer by its place where they do not know the group's members. Message: one that has
// `group`, `peer` and `place_of_peer`.
template <typename Message>
RankId PeerOf(const GroupTable& groups, const Message& op) {
  if (op.place_of_peer() == 0) return RankId(op.peer());
  return groups.MemberAt(GroupId(op.group()), op.place_of_peer() - 1);
}

template <typename Ops>
bool AnyByPlace(const Ops& ops) {
  return std::any_of(ops.begin(), ops.end(),
                     [](const auto& op) { return op.place_of_peer() != 0; });
}

template <typename Ops>
void NamePeers(const GroupTable& groups, Ops& ops) {
  for (auto& op : ops) op.set_peer(PeerOf(groups, op).value);
}

// The message, or its copy in `named` with the peers of its ops named.
const v1::RankGone& WithPeers(const GroupTable& groups, const v1::RankGone& gone,
                              v1::RankGone& named) {
  if (!AnyByPlace(gone.open_ops())) return gone;
  named = gone;
  NamePeers(groups, *named.mutable_open_ops());
  return named;
}

const v1::RankHealth& WithPeers(const GroupTable& groups, const v1::RankHealth& health,
                                v1::RankHealth& named) {
  if (!AnyByPlace(health.open_ops()) && !AnyByPlace(health.transfers())) return health;
  named = health;
  NamePeers(groups, *named.mutable_open_ops());
  NamePeers(groups, *named.mutable_transfers());
  return named;
}

// A single iteration that was cut would be cut again.
bool MayAskAgain(const v1::RankRows& reply, const RowsAsk& ask) {
  return reply.truncated() && ask.iterations.size() > 1;
}

}  // namespace

JobState::JobState(std::string name, const Clock& clock, std::string begun_by)
    : name_(std::move(name)),
      begun_by_(std::move(begun_by)),
      clock_(clock),
      last_seen_(clock.Wall()),
      last_seen_mono_(clock.Mono()) {}

void JobState::ResetForRestart() {
  groups_.Clear();
  run_facts_.Clear();
  window_.Clear();
  rows_.Clear();
  shown_.Clear();
  detail_.Clear();
  switches_ = SourceSwitches();
  stacks_ = AskedStacks();
  suspicion_ = {};
  diagnosis_ = {};
  // What was recalled of no life so far may be of the one that begins.
  if (of_this_life_) recalled_.reset();
  of_this_life_ = false;
  ended_ = false;
  heard_from_anybody_ = false;
}

void JobState::HeardFromAnybody() {
  const service::MutexLock lock(mutex_);
  heard_from_anybody_ = true;
}

void JobState::HeardAt(WallNs when) {
  const service::MutexLock lock(mutex_);
  last_seen_ = when;
}

JobState::RankResult JobState::Apply(const v1::RankInfo& info, std::string_view node,
                                     std::size_t room, std::string_view boot_id) {
  const service::MutexLock lock(mutex_);
  const auto admission = ranks_.Admit(info, {node, boot_id, clock_.Mono()}, room);
  if (admission.restarted) ResetForRestart();
  if (!admission.rejected) {
    NoteLifeOf(*ranks_.Find(RankId(info.rank())));
    ended_ = false;
    last_seen_ = clock_.Wall();
    last_seen_mono_ = clock_.Mono();
  }
  return {admission.rejected, admission.added, admission.restarted};
}

Rejection JobState::Apply(const v1::GroupInfo& info, std::string_view node) {
  const service::MutexLock lock(mutex_);
  if (auto bad = ranks_.CheckOwner(RankId(info.rank()), node)) return bad;
  return groups_.Merge(info, ranks_.ranks().size(), ranks_.world_size());
}

Rejection JobState::Apply(const v1::RankGone& gone, std::string_view node) {
  const service::MutexLock lock(mutex_);
  v1::RankGone named;
  const Rejection rejected = ranks_.Gone(WithPeers(groups_, gone, named), node);
  rank_lost_ = rank_lost_ || !rejected;
  if (ranks_.AllGone()) {
    for (const Nanos d : window_.TakeCompleted(true)) histogram_.Observe(d);
  }
  return rejected;
}

Rejection JobState::Apply(const v1::RankHealth& health, std::string_view node) {
  const service::MutexLock lock(mutex_);
  v1::RankHealth named;
  const Rejection rejected = ranks_.Health(WithPeers(groups_, health, named), node, clock_.Mono());
  if (!rejected) {
    const auto state = ranks_.Find(RankId(health.rank()))->health.state;
    rank_lost_ = rank_lost_ || diagnosis::IsDead(state);
    last_seen_ = clock_.Wall();
    last_seen_mono_ = clock_.Mono();
  }
  return rejected;
}

JobState::SummaryResult JobState::Apply(const v1::SummaryBatch& batch, std::string_view node) {
  const service::MutexLock lock(mutex_);
  if (auto bad = ranks_.CheckOwner(RankId(batch.rank()), node)) return {.rejected = bad};
  const bool none_partial = window_.newest() <= window_.whole();
  const std::int64_t whole_before = window_.whole();
  const auto added = window_.Add(batch);
  if (window_.whole() > whole_before) whole_since_ = clock_.Mono();
  if (none_partial && window_.newest() > window_.whole()) partial_since_ = clock_.Mono();
  ranks_.Find(RankId(batch.rank()))->summary_mono = clock_.Mono();
  for (const Nanos d : window_.TakeCompleted(false)) histogram_.Observe(d);
  last_seen_ = clock_.Wall();
  last_seen_mono_ = clock_.Mono();
  return {added.rejected, added.rows, added.repeats, added.too_old, window_.newest()};
}

void JobState::AddRankRows(const v1::RankRows& reply, const RowsAsk& ask, std::size_t& taken) {
  const RankId rank(reply.rank());
  std::map<std::int64_t, diagnosis::RankRows> by_iteration;
  for (const std::int64_t iteration : ask.iterations) by_iteration[iteration];
  const auto place = [&](std::int64_t own)
                         ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) -> diagnosis::RankRows* {
    // An op in flight belongs to no finished iteration: it is kept with the newest one asked for.
    const std::int64_t iteration =
        own < 0 ? by_iteration.rbegin()->first : window_.JobIteration(rank, own);
    const auto at = by_iteration.find(iteration);
    return at == by_iteration.end() ? nullptr : &at->second;
  };
  const auto number = [&](std::int64_t own) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return Iteration(window_.JobIteration(rank, own));
  };
  for (const auto& op : reply.ops()) {
    auto* rows = place(op.iteration());
    if (rows == nullptr) continue;
    rows->ops.push_back(ToCommOp(op, number(op.iteration())));
    rows->ops.back().peer = PeerOf(groups_, op);
    ++taken;
  }
  for (const auto& mark : reply.marks()) {
    auto* rows = place(mark.iteration());
    const auto converted = ToMark(mark, number(mark.iteration()));
    if (rows != nullptr && converted) rows->marks.push_back(*converted);
    const auto call = ToFunctionCall(mark, number(mark.iteration()));
    if (rows != nullptr && call) rows->functions.push_back(*call);
  }
  RowCache& cache = CacheOf(ask.whom);
  // Of a reply that was cut, what came is whole; the rest is asked for again.
  if (MayAskAgain(reply, ask)) {
    for (const std::int64_t own : reply.iterations_missing()) {
      const std::int64_t iteration = window_.JobIteration(rank, own);
      if (by_iteration.contains(iteration)) cache.Put(rank, iteration, {});
    }
    std::erase_if(by_iteration, [](const auto& entry) { return entry.second.ops.empty(); });
  }
  for (auto& [iteration, rows] : by_iteration) cache.Put(rank, iteration, std::move(rows));
}

std::size_t JobState::AddRows(const v1::RowsReply& reply, const RowsAsk& ask) {
  const service::MutexLock lock(mutex_);
  std::size_t taken = 0;
  if (ask.iterations.empty()) return taken;
  std::set<RankId> cut;
  for (const auto& rank : reply.ranks()) {
    const bool asked =
        std::find(ask.ranks.begin(), ask.ranks.end(), RankId(rank.rank())) != ask.ranks.end();
    if (asked) AddRankRows(rank, ask, taken);
    if (MayAskAgain(rank, ask)) cut.insert(RankId(rank.rank()));
  }
  // What the agent left out it does not have: it is not asked again.
  RowCache& cache = CacheOf(ask.whom);
  for (const RankId rank : ask.ranks) {
    if (cut.contains(rank)) continue;
    for (const std::int64_t iteration : ask.iterations) {
      if (!cache.Has(rank, iteration)) cache.Put(rank, iteration, {});
    }
  }
  return taken;
}

void JobState::FillRows(const diagnosis::RowsWanted& wanted, diagnosis::JobView& view) const {
  const service::MutexLock lock(mutex_);
  view.rows = rows_.Collect(wanted.ranks, wanted.iterations);
}

void JobState::FillShownRows(const diagnosis::RowsWanted& wanted, diagnosis::JobView& view) const {
  const service::MutexLock lock(mutex_);
  view.rows = rows_.Collect(wanted.ranks, wanted.iterations, &shown_);
}

std::vector<RowsAsk> JobState::MissingRows(const diagnosis::RowsWanted& wanted,
                                           RowsFor whom) const {
  const service::MutexLock lock(mutex_);
  const auto has = [&](RankId rank, std::int64_t iteration) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return rows_.Has(rank, iteration) || (whom == RowsFor::kPage && shown_.Has(rank, iteration));
  };
  // Ranks of one node that lack the same iterations and count alike share one request.
  std::map<std::pair<std::uint32_t, std::vector<std::int64_t>>, RowsAsk> asks;
  for (const RankId rank : wanted.ranks) {
    const auto at = ranks_.ranks().find(rank);
    if (at == ranks_.ranks().end() || at->second.gone) continue;
    RowsAsk ask;
    for (const Iteration iteration : wanted.iterations) {
      const std::int64_t own = window_.OwnIteration(rank, iteration.value);
      if (own < 0 || has(rank, iteration.value)) continue;
      // Its agent lags: later. Of a job that stands still nothing more comes, and the iteration in
      // which it does is never told of.
      if (!suspicion_.stalled && !window_.MayHaveTold(rank, iteration.value)) continue;
      if (ask.own.size() == kMaxIterationsPerRequest) break;
      ask.iterations.push_back(iteration.value);
      ask.own.push_back(own);
    }
    if (ask.own.empty()) continue;
    auto key = std::make_pair(at->second.process.node, ask.own);
    key.second.insert(key.second.end(), ask.iterations.begin(), ask.iterations.end());
    RowsAsk& shared = asks[key];
    if (shared.ranks.empty()) {
      shared = std::move(ask);
      shared.node = ranks_.NodeOf(at->second);
      shared.whom = whom;
    }
    shared.ranks.push_back(rank);
    shared.ops = std::max(shared.ops, window_.OpsOf(rank));
  }
  std::vector<RowsAsk> list;
  for (auto& [key, ask] : asks) list.push_back(std::move(ask));
  return list;
}

void JobState::BeginLook() {
  const service::MutexLock lock(mutex_);
  rank_lost_ = false;
  window_.BeginLook();
}

void JobState::SetSuspicion(const diagnosis::Suspicion& suspicion) {
  const service::MutexLock lock(mutex_);
  suspicion_ = suspicion;
  window_.RiseAbove(Nanos::FromSeconds(suspicion.expected.Seconds() * kRise));
  rows_.Prefer(suspicion.rows.ranks, suspicion.rows.iterations, suspicion.onset);
  window_.MarkIrregular(suspicion.irregular);
  if (suspicion.slow && suspicion.onset.value >= 0) {
    window_.Pin((suspicion.rise.empty() ? suspicion : suspicion.rise.front()).onset.value);
  } else {
    window_.Unpin();
  }
}

void JobState::LimitShownRows(std::size_t most) {
  const service::MutexLock lock(mutex_);
  shown_.Limit(most);
}

void JobState::Recall(Learnt learnt) {
  const service::MutexLock lock(mutex_);
  recalled_ = std::move(learnt);
  of_this_life_ = false;
  for (const auto& [rank, state] : ranks_.ranks()) NoteLifeOf(state);
}

void JobState::NoteLifeOf(const RankState& rank) {
  if (!recalled_ || of_this_life_) return;
  const std::vector<std::uint64_t>& life = recalled_->life;
  of_this_life_ = std::binary_search(life.begin(), life.end(), rank.process.mark);
  if (of_this_life_) window_.GoOnNumbering(recalled_->numbering);
}

void JobState::SetDiagnosis(const diagnosis::Diagnosis& diagnosis) {
  const service::MutexLock lock(mutex_);
  diagnosis_ = diagnosis;
  diagnosis::Remember(diagnosis, suspicion_.episode);
  window_.MarkIrregular(diagnosis.irregular);
}

bool JobState::UpdateEnded(MonoNs deadline) {
  const service::MutexLock lock(mutex_);
  ended_ = ranks_.AllGone() || last_seen_mono_ < deadline;
  return ended_;
}

}  // namespace fathom::collector
