#include "collector/job/ranks/rank_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "fathom/v1/health.pb.h"
#include "fathom/v1/job.pb.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kMostSamples = 64;  // of one silence: its beginning, and a minute
constexpr std::int64_t kSilentAtLeastNs = 2'000'000'000;  // the least that agents call silent

diagnosis::ProcessState StateOf(const std::string& letter) {
  using enum diagnosis::ProcessState;
  if (letter.empty()) return kUnknown;
  switch (letter[0]) {
    case 'R':
      return kRunning;
    case 'S':
    case 'I':
      return kSleeping;
    case 'D':
      return kUninterruptible;
    case 'T':
      return kStopped;
    case 't':
      return kTraced;
    case 'Z':
      return kZombie;
    case 'X':
      return kGone;
    default:
      return kUnknown;
  }
}

std::unique_ptr<const Gpu> GpuOf(const v1::RankInfo& info) {
  if (!info.has_gpu()) return nullptr;
  const v1::Gpu& gpu = info.gpu();
  return std::make_unique<const Gpu>(Gpu{gpu.number(), gpu.bus_id(), gpu.uuid()});
}

diagnosis::OpenOp OpenOpOf(const v1::OpenOp& op) {
  const bool kind_known = op.kind() < kCollectiveKindCount;
  const bool type_known = op.data_type() < kDataTypeCount;
  return {GroupId(op.group()),
          Sequence(op.sequence()),
          kind_known ? static_cast<CollectiveKind>(op.kind()) : CollectiveKind::kUnknown,
          type_known ? static_cast<DataType>(op.data_type()) : DataType::kUnknown,
          op.bytes(),
          RankId(op.peer()),
          Nanos(op.age_ns()),
          op.started()};
}

template <typename Message>
std::vector<diagnosis::OpenOp> OpenOpsOf(const Message& message) {
  std::vector<diagnosis::OpenOp> ops;
  for (const auto& op : message.open_ops()) ops.push_back(OpenOpOf(op));
  return ops;
}

std::shared_ptr<const diagnosis::StackSeen> StackOf(const v1::StackSample& stack) {
  diagnosis::StackSeen seen;
  seen.frames.assign(stack.frames().begin(), stack.frames().end());
  seen.samples = stack.samples();
  seen.functions = stack.functions();
  seen.error = stack.error();
  seen.source = stack.source();
  seen.pause = Nanos(std::int64_t{stack.pause_us()} * 1000);
  seen.longest_pause = Nanos(std::int64_t{stack.longest_pause_us()} * 1000);
  seen.given_up = stack.given_up();
  return std::make_shared<const diagnosis::StackSeen>(std::move(seen));
}

RankSocket SocketOf(const v1::Socket& from) {
  RankSocket to{from.local(), from.peer(), {}};
  to.state.peer = kNoRank;
  to.state.backoff = from.backoff();
  to.state.unacknowledged = from.unacknowledged();
  to.state.since_received = Nanos(from.since_received_ns());
  to.state.queued = from.queued();
  to.state.unread = from.unread();
  to.state.probes = from.probes();
  return to;
}

diagnosis::Transfer TransferOf(const v1::Transfer& from) {
  diagnosis::Transfer to;
  to.group = GroupId(from.group());
  to.sequence = Sequence(from.sequence());
  to.peer = RankId(from.peer());
  to.channel = from.channel();
  to.sends = from.sends();
  to.steps = from.steps();
  to.posted = from.posted();
  to.gpu = from.gpu();
  to.moved = from.moved();
  to.done = from.done();
  to.still_for = Nanos(from.still_ns());
  return to;
}

bool Troubled(const v1::RankHealth& health) {
  return !health.open_mark().empty() || !health.window_refused().empty() || health.has_stack() ||
         !health.tracer_drops().empty() || !health.open_ops().empty() || !health.groups().empty() ||
         !health.sockets().empty() || !health.transfers().empty();
}

std::unique_ptr<RankTrouble> TroubleOf(const v1::RankHealth& health) {
  if (!Troubled(health)) return nullptr;
  auto trouble = std::make_unique<RankTrouble>();
  trouble->open_mark = health.open_mark();
  trouble->open_mark_age = Nanos(health.open_mark_age_ns());
  trouble->window_refused = health.window_refused();
  if (health.has_stack()) trouble->stack = StackOf(health.stack());
  trouble->tracer_drops.assign(health.tracer_drops().begin(), health.tracer_drops().end());
  trouble->open_ops = OpenOpsOf(health);
  for (const auto& g : health.groups()) {
    trouble->groups.push_back({GroupId(g.group()), g.entered(), g.started(), g.completed()});
  }
  if (health.newest_group() != 0) trouble->newest_group = GroupId(health.newest_group());
  for (const auto& socket : health.sockets()) trouble->sockets.push_back(SocketOf(socket));
  for (const auto& transfer : health.transfers()) {
    trouble->transfers.push_back(TransferOf(transfer));
  }
  return trouble;
}

// Rounded up: a pause that was seen is not none.
std::int32_t MillisOf(std::int64_t ns) {
  constexpr std::int64_t kMostMs = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::min(ns / 1'000'000 + (ns % 1'000'000 != 0), kMostMs));
}

void Copy(const v1::RankHealth& from, RankHealthState& to) {
  to.state = StateOf(from.state());
  to.wait_channel = from.wait_channel();
  to.last_event_age = Nanos(from.last_event_age_ns());
  to.typical_iteration = Nanos(from.typical_iteration_ns());
  to.iterations_seen = from.iterations_seen();
  to.recent_pause_ms = MillisOf(from.recent_pause_ns());
  to.longest_pause_ms = MillisOf(from.longest_pause_ns());
  to.records_total = from.records_total();
  to.sources_seen = from.sources_seen();
  to.sources_off = from.sources_off();
  to.plugin_mask = from.plugin_mask();
  to.records_lost = from.records_lost();
  to.records_torn = from.records_torn();
  to.records_invalid = from.records_invalid();
  to.io_bytes = from.io_bytes();
  to.faults = from.minor_faults() + from.major_faults();
  to.oom_kills = static_cast<std::uint32_t>(from.oom_kills());
  to.frozen = from.frozen();
  to.trouble = TroubleOf(from);
}

// What it was in when it went, in place of what it told last.
void NoteLastOps(const v1::RankGone& gone, RankHealthState& health) {
  if (!health.trouble && gone.open_ops().empty()) return;
  if (!health.trouble) health.trouble = std::make_unique<RankTrouble>();
  health.trouble->open_ops = OpenOpsOf(gone);
}

// The silence goes on if nothing was recorded between the two samples.
bool StillSilent(const RankHealthState& before, const v1::RankHealth& now, MonoNs received) {
  const std::int64_t between = (received - before.received_mono).count;
  return before.known && now.last_event_age_ns() > between;
}

// Who is inside an op is no suspect: what its process does there tells nothing.
void Sample(const v1::RankHealth& from, RankHealthState& to) {
  const bool suspect = from.last_event_age_ns() > kSilentAtLeastNs && from.open_ops_size() == 0;
  if (!suspect) return to.samples.clear();
  if (to.samples.empty()) {
    diagnosis::ProcessSample& first = to.samples.emplace_back();
    first.cpu = Nanos(to.cpu_at_silence_ns);
    first.starved = Nanos(to.runqueue_at_silence_ns);
    first.io = to.io_at_silence;
    first.faults = to.faults_at_silence;
  }
  if (to.samples.size() >= kMostSamples) to.samples.erase(to.samples.begin() + 1);
  diagnosis::ProcessSample& now = to.samples.emplace_back();
  now.silent_for = Nanos(from.last_event_age_ns());
  now.cpu = Nanos(to.cpu_ns);
  now.starved = Nanos(to.runqueue_ns);
  now.io = to.io_bytes;
  now.faults = to.faults;
  now.descendants_known = from.has_descendants();
  now.descendants_cpu = Nanos(static_cast<std::int64_t>(from.descendants().cpu_ns()));
  now.descendants_io = from.descendants().io_bytes();
}

}  // namespace

std::uint32_t RankTable::NodeIndex(std::string_view node) {
  const auto at = std::find(nodes_.begin(), nodes_.end(), node);
  if (at != nodes_.end()) return static_cast<std::uint32_t>(at - nodes_.begin());
  nodes_.emplace_back(node);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

bool RankTable::IsStale(const RankState* known, const RankProcess& process) const {
  if (known != nullptr && !known->process.SameProcess(process)) {
    return process.started_wall_ns <= known->process.started_wall_ns;
  }
  return process.restart_count < restart_count_ && process.started_wall_ns < started_wall_ns_;
}

bool RankTable::IsRestart(const RankState* known, const RankProcess& process,
                          std::uint32_t world) const {
  if (known != nullptr) return !known->process.SameProcess(process);
  const bool later = process.started_wall_ns > started_wall_ns_;
  return later && (process.restart_count > restart_count_ || world != world_size_);
}

void RankTable::Begin(const v1::RankInfo& info) {
  ranks_.clear();
  nodes_.clear();
  world_size_ = info.world_size();
  restart_count_ = info.restart_count();
  started_wall_ns_ = info.started_wall_ns();
  ++incarnation_;
}

RankTable::Admission RankTable::Admit(const v1::RankInfo& info, std::string_view node,
                                      std::size_t room) {
  RankProcess process{NodeIndex(node),        info.pid(),           info.start_time_ticks(),
                      info.started_wall_ns(), info.restart_count(), info.local_rank(),
                      info.sources()};
  RankState* known = Find(RankId(info.rank()));
  if (incarnation_ != 0 && IsStale(known, process)) return {.rejected = RejectReason::kStale};
  const bool restart = incarnation_ != 0 && IsRestart(known, process, info.world_size());
  if (restart || incarnation_ == 0) {
    Begin(info);
    process.node = NodeIndex(node);
    known = nullptr;
  } else if (info.world_size() != world_size_) {
    ++contradictions_;
    return {.rejected = RejectReason::kBadWorldSize};
  }
  if (known != nullptr) {
    known->process.sources |= info.sources();
    known->gpu = GpuOf(info);
    return {};
  }
  if (room == 0) return {false, restart, RejectReason::kTooManyRanks};
  started_wall_ns_ = std::min(started_wall_ns_, info.started_wall_ns());
  RankState& added = ranks_[RankId(info.rank())];
  added = RankState();
  added.process = process;
  added.gpu = GpuOf(info);
  return {true, restart, std::nullopt};
}

RankState* RankTable::Find(RankId rank) {
  const auto at = ranks_.find(rank);
  return at == ranks_.end() ? nullptr : &at->second;
}

Rejection RankTable::CheckOwner(RankId rank, std::string_view node) const {
  const auto at = ranks_.find(rank);
  if (at == ranks_.end()) return RejectReason::kUnknownRank;
  if (NodeOf(at->second) != node) return RejectReason::kNotOwner;
  return std::nullopt;
}

Rejection RankTable::Gone(const v1::RankGone& gone, std::string_view node) {
  if (auto bad = CheckOwner(RankId(gone.rank()), node)) return bad;
  RankState& rank = *Find(RankId(gone.rank()));
  if (rank.process.pid != gone.pid()) return RejectReason::kStale;
  // Out of an agent's sight is not dead: the facts just grow old.
  if (gone.how() == "unseen") return std::nullopt;
  rank.gone = true;
  rank.gone_at = WallNs(gone.noticed_wall_ns());
  if (gone.wait_status() > 0) rank.wait_status = gone.wait_status() - 1;
  rank.communication_failed = gone.communication_failed();
  rank.health.oom_kills =
      std::max(rank.health.oom_kills, static_cast<std::uint32_t>(gone.oom_kills()));
  NoteLastOps(gone, rank.health);
  // Python runs its exit hooks after an exception as well: the status knows better.
  rank.exited_orderly = gone.orderly() && rank.wait_status.value_or(0) == 0;
  rank.health.state = diagnosis::ProcessState::kGone;
  return std::nullopt;
}

Rejection RankTable::Health(const v1::RankHealth& health, std::string_view node, MonoNs now) {
  if (auto bad = CheckOwner(RankId(health.rank()), node)) return bad;
  RankState& rank = *Find(RankId(health.rank()));
  if (rank.gone) return std::nullopt;
  RankHealthState& state = rank.health;
  // Of the process: work may be handed to a thread that the training thread waits for.
  state.cpu_ns =
      static_cast<std::int64_t>(std::max(health.cpu_ns(), health.training_thread_cpu_ns()));
  state.runqueue_ns = static_cast<std::int64_t>(health.runqueue_wait_ns());
  const bool silent_before = StillSilent(state, health, now);
  Copy(health, state);
  if (!silent_before) {
    state.cpu_at_silence_ns = state.cpu_ns;
    state.runqueue_at_silence_ns = state.runqueue_ns;
    state.io_at_silence = state.io_bytes;
    state.faults_at_silence = state.faults;
    state.samples.clear();
  }
  Sample(health, state);
  state.received_mono = now;
  state.known = true;
  return std::nullopt;
}

bool RankTable::AllGone() const {
  return !ranks_.empty() && std::all_of(ranks_.begin(), ranks_.end(),
                                        [](const auto& entry) { return entry.second.gone; });
}

}  // namespace fathom::collector
