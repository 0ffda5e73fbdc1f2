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

std::uint64_t Mixed(std::uint64_t hash, std::string_view text) {
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;  // FNV-1a
  return hash;
}

std::uint64_t Mixed(std::uint64_t hash, std::uint64_t number) {
  return (hash ^ number) * 0x9e3779b97f4a7c15;
}

constexpr std::uint64_t kHashSeed = 0xcbf29ce484222325;

// Requires: both are of one node.
bool Younger(const RankProcess& one, const RankProcess& other) {
  // A stream is of its node's present boot.
  if (one.boot != other.boot && one.boot != 0 && other.boot != 0) return true;
  if (one.start_ticks != other.start_ticks) return one.start_ticks > other.start_ticks;
  return one.restart_count > other.restart_count;
}

bool Over(const RankState& rank, MonoNs now) {
  if (rank.gone) return true;
  const MonoNs heard =
      std::max({rank.announced_mono, rank.summary_mono, rank.health.received_mono});
  return now - heard > RankTable::kOwnerSilence;
}

}  // namespace

std::uint32_t RankTable::FindNode(std::string_view node) const {
  const auto at = std::find(nodes_.begin(), nodes_.end(), node);
  return at == nodes_.end() ? RankProcess::kNoNode
                            : static_cast<std::uint32_t>(at - nodes_.begin());
}

std::uint32_t RankTable::NodeIndex(std::string_view node) {
  const std::uint32_t found = FindNode(node);
  if (found != RankProcess::kNoNode) return found;
  nodes_.emplace_back(node);
  ranks_on_.push_back(0);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::size_t RankTable::RanksOn(std::string_view node) const {
  const std::uint32_t found = FindNode(node);
  return found == RankProcess::kNoNode ? 0 : ranks_on_[found];
}

RankProcess RankTable::ProcessOf(const v1::RankInfo& info, const Teller& teller) const {
  RankProcess process;
  process.node = FindNode(teller.node);
  process.pid = info.pid();
  process.boot = teller.boot_id.empty() ? 0 : Mixed(kHashSeed, teller.boot_id);
  process.start_ticks = info.start_time_ticks();
  process.mark =
      Mixed(Mixed(Mixed(Mixed(kHashSeed, teller.node), process.boot), info.start_time_ticks()),
            std::uint64_t{info.pid()});
  process.started_wall_ns = info.started_wall_ns();
  if (info.has_user()) process.user = info.user();
  process.restart_count = info.restart_count();
  process.local_rank = info.local_rank();
  process.sources = info.sources();
  return process;
}

bool RankTable::AllOver(MonoNs now) const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [&](const auto& entry) { return Over(entry.second, now); });
}

bool RankTable::OfAnotherUser(const RankProcess& process) const {
  if (process.node == RankProcess::kNoNode || process.user == RankProcess::kNoUser) return false;
  return std::any_of(ranks_.begin(), ranks_.end(), [&](const auto& entry) {
    const RankProcess& other = entry.second.process;
    return other.node == process.node && other.user != RankProcess::kNoUser &&
           other.user != process.user;
  });
}

bool RankTable::IsFormer(const RankProcess& process) const {
  if (former_[0].empty()) return false;
  return std::any_of(former_.begin(), former_.end(), [&](const auto& life) {
    return std::binary_search(life.begin(), life.end(), process.mark);
  });
}

RankTable::Order RankTable::OrderOnItsNode(const RankProcess& process) const {
  Order order = Order::kUnknown;
  for (const auto& [rank, state] : ranks_) {
    if (state.process.node != process.node) continue;
    if (!Younger(process, state.process)) return Order::kOlder;
    order = Order::kYounger;
  }
  return order;
}

RankTable::Arrival RankTable::InPlaceOf(const RankState& known, const RankProcess& process,
                                        MonoNs now) const {
  if (process.node == known.process.node) {
    return Younger(process, known.process) ? Arrival::kRestart : Arrival::kStale;
  }
  const bool takes_part = process.node != RankProcess::kNoNode;
  const bool counted = process.restart_count > restart_count_;
  return takes_part && (counted || Over(known, now)) ? Arrival::kRestart : Arrival::kForeign;
}

RankTable::Arrival RankTable::OfAnotherLife(const RankProcess& process, std::uint32_t world,
                                            bool over) const {
  const Order order = OrderOnItsNode(process);
  if (order == Order::kYounger || (order == Order::kUnknown && over)) return Arrival::kRestart;
  // A standby that took a place: its launcher has restarted nothing yet.
  if (order == Order::kUnknown && world == world_size_) return Arrival::kJoins;
  if (process.restart_count < restart_count_) return Arrival::kStale;
  if (process.restart_count == restart_count_ && world != world_size_) return Arrival::kContradicts;
  return order == Order::kOlder ? Arrival::kStale : Arrival::kForeign;
}

RankTable::Arrival RankTable::ArrivalOf(const RankState* known, const RankProcess& process,
                                        std::uint32_t world, MonoNs now) const {
  const bool same_life = process.restart_count == restart_count_ && world == world_size_;
  if (known != nullptr && known->process.SameProcess(process)) {
    return world == world_size_ ? Arrival::kKnown : Arrival::kContradicts;
  }
  if (IsFormer(process)) return Arrival::kStale;
  if (known == nullptr && same_life && !OfAnotherUser(process)) return Arrival::kJoins;
  const bool over = AllOver(now);
  if (!over && OfAnotherUser(process)) return Arrival::kForeign;
  if (known == nullptr) return OfAnotherLife(process, world, over);
  if (over && process.node != known->process.node) return Arrival::kRestart;
  return InPlaceOf(*known, process, now);
}

void RankTable::Begin(const v1::RankInfo& info) {
  former_[1] = std::move(former_[0]);
  former_[0].clear();
  for (const auto& [rank, state] : ranks_) former_[0].push_back(state.process.mark);
  std::sort(former_[0].begin(), former_[0].end());
  ranks_.clear();
  nodes_.clear();
  ranks_on_.clear();
  world_size_ = info.world_size();
  restart_count_ = info.restart_count();
  started_wall_ns_ = info.started_wall_ns();
  ++incarnation_;
}

void RankTable::Add(const v1::RankInfo& info, RankProcess process, const Teller& teller) {
  process.node = NodeIndex(teller.node);
  ++ranks_on_[process.node];
  started_wall_ns_ = std::min(started_wall_ns_, info.started_wall_ns());
  RankState& added = ranks_[RankId(info.rank())];
  added = RankState();
  added.process = process;
  added.announced_mono = teller.now;
  added.gpu = GpuOf(info);
}

RankTable::Admission RankTable::Admit(const v1::RankInfo& info, const Teller& teller,
                                      std::size_t room) {
  const RankProcess process = ProcessOf(info, teller);
  RankState* known = Find(RankId(info.rank()));
  Arrival arrival = Arrival::kRestart;
  if (incarnation_ != 0) arrival = ArrivalOf(known, process, info.world_size(), teller.now);
  switch (arrival) {
    case Arrival::kStale:
      return {.rejected = RejectReason::kStale};
    case Arrival::kForeign:
      return {.rejected = RejectReason::kNotOwner};
    case Arrival::kContradicts:
      ++contradictions_;
      return {.rejected = RejectReason::kBadWorldSize};
    case Arrival::kKnown:
      known->process.sources |= info.sources();
      known->gpu = GpuOf(info);
      return {};
    case Arrival::kJoins:
    case Arrival::kRestart:
      break;
  }
  const bool restarted = arrival == Arrival::kRestart && incarnation_ != 0;
  if (arrival == Arrival::kRestart) Begin(info);
  if (room == 0) return {false, restarted, RejectReason::kTooManyRanks};
  Add(info, process, teller);
  return {true, restarted, std::nullopt};
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

std::vector<std::uint64_t> RankTable::Life() const {
  std::vector<std::uint64_t> marks;
  std::vector<bool> seen(nodes_.size());
  for (const auto& [rank, state] : ranks_) {
    if (seen[state.process.node]) continue;
    seen[state.process.node] = true;
    marks.push_back(state.process.mark);
    if (marks.size() == kLifeMarks) break;
  }
  std::sort(marks.begin(), marks.end());
  return marks;
}

bool RankTable::AllGone() const {
  return !ranks_.empty() && std::all_of(ranks_.begin(), ranks_.end(),
                                        [](const auto& entry) { return entry.second.gone; });
}

}  // namespace fathom::collector
