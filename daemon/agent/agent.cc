#include "daemon/agent/agent.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/agent/capture/stack_recording.h"
#include "daemon/agent/session/rank_messages.h"
#include "daemon/agent/source/stack/inside_stack.h"
#include "daemon/agent/source/stack/stack_reader.h"
#include "daemon/agent/version.h"

namespace fathom::agent {
namespace {

constexpr std::int64_t kScanEveryNs = 250'000'000;
constexpr std::int64_t kHealthEveryNs = 1'000'000'000;
constexpr std::int64_t kCountersEveryNs = 5'000'000'000;
constexpr std::int64_t kPlanEveryNs = 5'000'000'000;
constexpr std::int64_t kKeepRetiredNs = 60'000'000'000;
constexpr std::size_t kMaxRetired = 64;
constexpr int kMaxRejectionsSaid = 5;
constexpr std::int64_t kFlowingNs = 250'000'000;
constexpr std::int64_t kReadyWithinNs = 5'000'000'000;

// What is not limited is as good as endless.
Spend BudgetOf(const Settings& settings) {
  const auto or_none = [](double value) { return value > 0 ? value : service::kNoLimit; };
  return {or_none(settings.budget_cpu / 100), or_none(settings.budget_kbit * 1000.0 / 8),
          or_none(settings.budget_mib * static_cast<double>(1 << 20))};
}

SessionSettings SessionSettingsOf(const Settings& settings, const KernelRoots& roots,
                                  CostMeter& meter) {
  SessionSettings out;
  out.meter = &meter;
  out.roots = roots;
  out.folder = settings.shm_dir;
  out.pipeline.log.max_rows = settings.log_rows;
  out.pipeline.log.max_age_ns = static_cast<std::int64_t>(settings.log_minutes * 60e9);
  return out;
}

StackSampler::Tool StackToolOf(const Settings& settings) {
  return [reader = std::make_shared<StackReader>(settings.stack_tool, settings.shm_dir)](
             std::uint32_t pid, const std::atomic<bool>& stop) { return reader->Read(pid, stop); };
}

std::string StandingKey(const RankSession& session, const char* what, std::size_t index) {
  return absl::StrCat(what, "/", session.name(), "/", index);
}

}  // namespace

Agent::Agent(Settings settings, AgentWorld world)
    : settings_(std::move(settings)),
      world_(std::move(world)),
      node_(NodeName(settings_)),
      meter_(world_.thread_cpu),
      planner_(BudgetOf(settings_)),
      session_settings_(SessionSettingsOf(settings_, world_.roots, meter_)),
      directory_(settings_.shm_dir, settings_.max_rings, world_.roots.proc),
      sockets_(world_.roots, EstablishedSockets),
      facts_([roots = world_.roots](std::uint32_t pid) { return ReadProcessSetup(roots, pid); }),
      node_facts_(world_.roots),
      metrics_(kVersion, node_),
      outbox_(std::size_t{settings_.buffer_mib} << 20),
      orders_([this](const std::string& job, std::uint32_t rank) { return SessionOf(job, rank); },
              outbox_),
      ops_(outbox_, static_cast<std::uint64_t>(world_.wall_now().ns)),
      probes_(outbox_, settings_.probe_off_file) {}

Agent::~Agent() = default;

absl::Status Agent::Start() {
  if (!settings_.stack_tool.empty()) {
    stacks_ = std::make_unique<StackWatch>(StackToolOf(settings_));
    orders_.ReadStacksWith(StackToolOf(settings_));
    orders_.LimitCaptures(
        [this](std::size_t processes, double seconds, std::uint32_t asked, std::int64_t now_ns) {
          return planner_.CaptureRate(processes, seconds, asked, MonoNs(now_ns));
        });
    orders_.CaptureWith(settings_.stack_tool,
                        [roots = world_.roots](const RecordingPlan& plan, const auto& stop) {
                          return RecordStacks(plan, roots, stop);
                        });
  }
  if (!settings_.probe_tool.empty()) {
    probes_.ProbeWith(
        ProbeToolOf(settings_.probe_tool, settings_.probe_seconds, settings_.probe_memory_mib));
  }
  if (settings_.hardware) {
    hardware_ = std::make_unique<HardwareWatch>(HardwareWatch::Parts{
        .roots = world_.roots, .now = world_.mono_now, .nvml = settings_.nvml_library});
  }
  absl::Status status = MakeRingFolder(settings_.shm_dir, settings_.shared);
  if (!status.ok()) return status;
  if (!settings_.http.empty()) {
    HostPort address;
    if (!ParseHostPort(settings_.http, address)) {
      return absl::InvalidArgumentError("http: no address: " + settings_.http);
    }
    auto http = HttpServer::Start(address,
                                  {.metrics = [this] { return metrics_.Text(); },
                                   .not_ready = [this] { return WhyNotReady(); }},
                                  HttpTls(settings_));
    if (!http.ok()) return http.status();
    http_ = *std::move(http);
  }
  if (!settings_.record.empty()) {
    auto recorder = Recorder::Open(settings_.record, std::uint64_t{settings_.record_gib} << 30,
                                   HelloOf(node_, kVersion, world_.roots), Moment());
    if (!recorder.ok()) return recorder.status();
    recorder_ = *std::move(recorder);
  }
  if (!settings_.spool.empty()) {
    auto spool = Spool::Open({.folder = settings_.spool,
                              .max_bytes = std::uint64_t{settings_.spool_mib} << 20,
                              .max_age = Nanos::FromSeconds(settings_.spool_hours * 3600)},
                             world_.wall_now);
    if (!spool.ok()) return spool.status();
    spool_ = *std::move(spool);
    outbox_.KeepIn(*spool_);
  }
  LinkSettings link;
  link.target = settings_.collector;
  link.tls = CollectorTls(settings_);
  link.jitter_seed = static_cast<std::uint32_t>(world_.mono_now().ns);
  link_ = std::make_unique<CollectorLink>(link, HelloOf(node_, kVersion, world_.roots), outbox_);
  link_->Start();
  return absl::OkStatus();
}

void Agent::Run(const std::function<void()>& between, const std::function<void()>& stopping) {
  while (!stop_.load(std::memory_order_relaxed)) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(Step().count));
    between();
  }
  stopping();
  Drain();
}

Nanos Agent::Step() {
  const CostMeter::In in(&meter_, WorkPart::kPolling);
  const std::int64_t now = world_.mono_now().ns;
  last_step_ns_ = now;
  const bool scan = now >= next_scan_ns_ || SomebodyExited();
  if (scan) {
    next_scan_ns_ = now + kScanEveryNs;
    Scan(now);
  }
  const std::uint64_t records = PollAll(now);
  if (scan) {
    for (auto& entry : sessions_) {
      SendSummaries(*entry.second);
      orders_.Report(*entry.second, now);
    }
    SendFacts();
    StreamOps(now);
  }
  AnswerRequests();
  CarryOutOrders(now);
  if (now >= next_health_ns_) {
    next_health_ns_ = now + kHealthEveryNs;
    SendHealth(now);
    UpdateTotals();
  }
  if (now >= next_counters_ns_) {
    next_counters_ns_ = now + kCountersEveryNs;
    SendCounters();
  }
  if (now >= next_plan_ns_) {
    next_plan_ns_ = now + kPlanEveryNs;
    LookAtPlan(now);
  }
  return Rest(records, now);
}

// Fast while records pour in, so that no ring is overrun; quick while ops flow, because the thread
// clock is as sharp as its samples are dense; slow otherwise.
Nanos Agent::Rest(std::uint64_t records, std::int64_t now_ns) {
  if (records > 0) last_record_ns_ = now_ns;
  const bool pours = records > abi::kMinRecords / 4;
  const bool flows = now_ns - last_record_ns_ < kFlowingNs;
  const double quick = std::min(1.5 * settings_.poll_min_ms, settings_.poll_max_ms);
  const double ms = pours ? settings_.poll_min_ms : flows ? quick : settings_.poll_max_ms;
  rest_ = Nanos::FromSeconds(ms / 1e3);
  const double times = pours ? 1 : planner_.plan().paces.Of(Knob::kPolling);
  return Nanos::FromSeconds(times * ms / 1e3);
}

std::uint64_t Agent::PollAll(std::int64_t now_ns) {
  std::uint64_t records = 0;
  for (auto& [name, session] : sessions_) {
    const bool known = session->rank_known();
    const absl::StatusOr<RankSession::PollResult> result = session->Poll(now_ns);
    if (!known && NameIsTaken(*session)) session->StandApart();
    if (!result.ok()) {
      spdlog::warn("ring {} cannot be read any more: {}", name,
                   std::string(result.status().message()));
      continue;
    }
    records += result->records;
    if (!result->new_groups.empty() || result->gpu_changed) {
      Announce(*session, result->new_groups);
    }
  }
  return records;
}

bool Agent::NameIsTaken(const RankSession& session) const {
  const RegionIdentity& id = session.identity();
  if (!session.rank_known() || id.world_size != 1) return false;
  return std::any_of(sessions_.begin(), sessions_.end(), [&](const auto& entry) {
    const RankSession& other = *entry.second;
    return &other != &session && other.identity().job == id.job &&
           other.identity().rank == id.rank && !other.Exited();
  });
}

void Agent::Announce(const RankSession& session, const std::vector<std::uint16_t>& groups) {
  if (!session.rank_known()) return;
  v1::AgentMessage message;
  *message.mutable_rank() = RankInfoOf(session);
  Record(message);
  outbox_.PutStanding(StandingKey(session, "1rank", 0), std::move(message));
  for (const std::uint16_t slot : groups) AnnounceGroup(session, slot);
}

void Agent::AnnounceGroup(const RankSession& session, std::uint16_t slot) {
  v1::AgentMessage message;
  *message.mutable_group() = GroupInfoOf(session, slot);
  Record(message);
  outbox_.PutStanding(StandingKey(session, "2group", slot), std::move(message));
}

void Agent::Scan(std::int64_t now_ns) {
  ScanResult found = directory_.Scan();
  folder_ok_ = found.folder_ok;
  if (!found.folder_ok && !std::exchange(said_no_folder_, true)) {
    spdlog::error("the ring folder {} is gone", settings_.shm_dir);
  }
  for (const RejectedRing& ring : found.rejected) {
    if (++rejections_said_ <= kMaxRejectionsSaid) {
      spdlog::warn("ring {} refused: {}", ring.name, ring.reason);
    }
  }
  if (found.over_limit > 0 && !std::exchange(said_over_limit_, true)) {
    spdlog::warn("{} rings beyond the limit of {} wait their turn (--max-rings)", found.over_limit,
                 settings_.max_rings);
  }
  for (OpenedRing& ring : found.opened) Open(std::move(ring));
  for (const std::string& name : found.vanished) RetireSession(name, false, now_ns);
  std::vector<std::string> gone;
  for (auto& [name, session] : sessions_) {
    if (session->IsGone(now_ns) || Superseded(*session)) gone.push_back(name);
  }
  for (const std::string& name : gone) RetireSession(name, true, now_ns);
  while (!retired_.empty() &&
         (now_ns - retired_.front().since_ns > kKeepRetiredNs || retired_.size() > kMaxRetired)) {
    retired_.pop_front();
  }
}

// At once, not at the next scan: who went first tells who took the others along, and the exit
// status can only be read until the parent asks for it.
bool Agent::SomebodyExited() const {
  return std::any_of(sessions_.begin(), sessions_.end(),
                     [](const auto& entry) { return entry.second->Exited(); });
}

void Agent::Open(OpenedRing ring) {
  auto session =
      std::make_unique<RankSession>(ring.name, std::move(ring.region), session_settings_);
  const RegionIdentity& id = session->identity();
  spdlog::info("ring {}: job {} rank {} of {} pid {}", ring.name, id.job,
               static_cast<std::int32_t>(id.rank), id.world_size, id.pid);
  Announce(*session, {});
  KeepPacesOf(*session);
  sessions_[ring.name] = std::move(session);
}

// After an exec the same process writes a ring of a higher generation.
bool Agent::Superseded(const RankSession& session) const {
  const RegionIdentity& id = session.identity();
  return std::any_of(sessions_.begin(), sessions_.end(), [&](const auto& entry) {
    const RegionIdentity& other = entry.second->identity();
    return other.pid == id.pid && other.start_time_ticks == id.start_time_ticks &&
           other.generation > id.generation;
  });
}

void Agent::RetireSession(const std::string& name, bool remove, std::int64_t now_ns) {
  const auto it = sessions_.find(name);
  if (it == sessions_.end()) return;
  std::unique_ptr<RankSession> session = std::move(it->second);
  sessions_.erase(it);
  const RankSession::PollResult last = session->Retire(now_ns);
  directory_.Close(name, remove);
  if (remove && !Superseded(*session)) {
    unlink(InsideSocket(directory_.folder(), session->identity().pid).c_str());
  }
  if (session->rank_known()) {
    for (const std::uint16_t slot : last.new_groups) AnnounceGroup(*session, slot);
    SendSummaries(*session);
    orders_.Report(*session, now_ns);
    // Before its death: a job that begins anew must not be told ops of its life before.
    ops_.TakeLast(*session, MonoNs(now_ns));
    ops_.Flush();
    v1::AgentMessage gone;
    *gone.mutable_gone() = RankGoneOf(*session, now_ns, world_.wall_now().ns);
    spdlog::info("job {} rank {} pid {} {}", session->identity().job, session->identity().rank,
                 session->identity().pid, gone.gone().how());
    if (recorder_ != nullptr) recorder_->TakeAll(*session, Moment());
    Record(gone);
    outbox_.PutDurable(std::move(gone));
  }
  if (stacks_ != nullptr) stacks_->Forget(name);
  transfers_.Forget(name);
  if (recorder_ != nullptr) recorder_->Forget(*session);
  outbox_.RetireStanding(StandingKey(*session, "1rank", 0));
  outbox_.RetireStanding(StandingKey(*session, "3facts", 0));
  for (std::size_t slot = 0; slot < session->groups().size(); ++slot) {
    outbox_.RetireStanding(StandingKey(*session, "2group", slot));
  }
  AddToTotals(*session, ended_totals_);
  retired_.push_back({std::move(session), now_ns});
}

void Agent::SendSummaries(RankSession& session) {
  if (!session.rank_known()) return;
  const CostMeter::In in(&meter_, WorkPart::kSummaries);
  std::uint64_t closed_rows = 0;
  while (true) {
    const ClosedIterations run = session.pipeline().TakeClosed();
    if (run.summaries.empty()) break;
    closed_rows = run.summaries.back().span.anchor_row + 1;
    meter_.Handled(WorkPart::kSummaries, run.summaries.size());
    v1::AgentMessage message;
    *message.mutable_summary() = SummaryBatchOf(session, run, MonoToWall());
    Record(message);
    outbox_.PutDurable(std::move(message));
  }
  if (recorder_ != nullptr) recorder_->TakeRows(session, closed_rows, Moment());
  const CostMeter::In streaming(&meter_, WorkPart::kOps);
  ops_.Take(session, closed_rows, world_.mono_now());
}

void Agent::StreamOps(std::int64_t now_ns) {
  if (link_ != nullptr) {
    if (auto wanted = link_->TakeStreamOps()) ops_.Want(*std::move(wanted));
  }
  const CostMeter::In in(&meter_, WorkPart::kOps);
  const std::uint64_t before = ops_.counters().ops;
  ops_.Tick(MonoNs(now_ns));
  meter_.Handled(WorkPart::kOps, ops_.counters().ops - before);
}

// Who takes part is standing before what it does: the key says so.
void Agent::SendFacts() {
  std::vector<const RankSession*> sessions;
  for (const auto& entry : sessions_) sessions.push_back(entry.second.get());
  for (FactsWatch::Told& told : facts_.Look(sessions)) {
    v1::AgentMessage message;
    *message.mutable_facts() = std::move(told.facts);
    Record(message);
    outbox_.PutStanding(StandingKey(*told.session, "3facts", 0), std::move(message));
  }
}

void Agent::Record(const v1::AgentMessage& message) {
  if (recorder_ != nullptr) recorder_->Put(message, Moment());
}

std::int64_t Agent::MonoToWall() const { return world_.wall_now().ns - world_.mono_now().ns; }

std::set<std::string> Agent::SilentJobs(std::int64_t now_ns) const {
  std::set<std::string> jobs;
  for (const auto& entry : sessions_) {
    if (entry.second->Silent(now_ns)) jobs.insert(entry.second->identity().job);
  }
  return jobs;
}

// `tree` is made for the first that asks.
void Agent::LookBelow(const RankSession& session, std::optional<ProcessTree>& tree,
                      v1::RankHealth& health) const {
  if (!tree) tree.emplace(world_.roots);
  std::set<std::uint32_t> traced;
  for (const auto& entry : sessions_) traced.insert(entry.second->identity().pid);
  AddDescendants(tree->Below(session.identity().pid, traced), health);
}

void Agent::SendHealth(std::int64_t now_ns) {
  const CostMeter::In in(&meter_, WorkPart::kHealth);
  meter_.Handled(WorkPart::kHealth, std::max<std::size_t>(1, sessions_.size()));
  v1::AgentMessage message;
  v1::HealthBatch& health = *message.mutable_health();
  const std::set<std::string> silent = SilentJobs(now_ns);
  std::optional<ProcessTree> tree;
  for (auto& entry : sessions_) {
    RankSession& session = *entry.second;
    session.pipeline().DropOld(now_ns);
    if (session.Silent(now_ns)) session.pipeline().Pause();
    if (!session.rank_known()) continue;
    const auto facts = ReadFacts(world_.roots, session.identity().pid, session.training_thread());
    v1::RankHealth& rank = *health.add_ranks();
    rank = RankHealthOf(session, facts.value_or(ProcessFacts{}), now_ns,
                        silent.contains(session.identity().job));
    if (session.Silent(now_ns) && rank.open_ops().empty()) LookBelow(session, tree, rank);
    if (stacks_ != nullptr) stacks_->Look(session, now_ns, rank);
    sockets_.Look(session.identity().pid, now_ns, rank);
    transfers_.Look(session, now_ns, rank);
  }
  *health.mutable_node() = NodeHealthOf(node_facts_.Read(), node_, world_.wall_now().ns);
  LookAtHardware(now_ns, health);
  Record(message);
  if (recorder_ != nullptr) recorder_->Tick(MonoNs(now_ns));
  outbox_.PutMomentary(std::move(message));
}

void Agent::LookAtHardware(std::int64_t now_ns, v1::HealthBatch& health) {
  if (hardware_ == nullptr) return;
  std::set<std::uint32_t> traced;
  std::vector<Reading> stopped;
  for (const auto& entry : sessions_) {
    const std::uint32_t pid = entry.second->identity().pid;
    traced.insert(pid);
    const double seconds = static_cast<double>(entry.second->stopped_ns()) / 1e9;
    stopped.push_back(
        {DeviceKind::kProcess, absl::StrCat(pid), HardwareMetric::kStoppedTime, seconds, ""});
  }
  hardware_->Traced(std::move(traced));
  hardware_->Add(std::move(stopped));
  const std::uint64_t lost = outbox_.counters().momentary_lost;
  auto news = hardware_->Look(MonoNs(now_ns), world_.wall_now(), lost);
  if (news) *health.mutable_hardware() = *std::move(news);
}

RankSession* Agent::SessionOf(const std::string& job, std::uint32_t rank) {
  const auto is = [&](const RankSession& session) {
    return session.identity().job == job && session.identity().rank == rank;
  };
  RankSession* found = nullptr;
  for (auto& entry : sessions_) {
    RankSession& session = *entry.second;
    const bool newer =
        found == nullptr || session.identity().created_mono_ns > found->identity().created_mono_ns;
    if (is(session) && newer) found = &session;
  }
  for (auto it = retired_.rbegin(); found == nullptr && it != retired_.rend(); ++it) {
    if (is(*it->session)) found = it->session.get();
  }
  return found;
}

std::string Agent::WhyNotReady() const {
  if (!folder_ok_) return absl::StrCat("the ring folder ", settings_.shm_dir, " is not there");
  const std::int64_t age = world_.mono_now().ns - last_step_ns_;
  return age > kReadyWithinNs ? "the poll loop stands still" : "";
}

void Agent::Drain() {
  const std::int64_t now = world_.mono_now().ns;
  PollAll(now);
  Scan(now);
  for (auto& entry : sessions_) {
    SendSummaries(*entry.second);
    ops_.TakeLast(*entry.second, MonoNs(now));
  }
  ops_.Flush();
  AnswerRequests();
  UpdateTotals();
  SendCounters();
  if (recorder_ != nullptr) {
    for (const auto& entry : sessions_) recorder_->TakeAll(*entry.second, Moment());
    recorder_->Close();
  }
  if (link_ != nullptr) {
    link_->Stop(std::chrono::milliseconds(static_cast<std::int64_t>(settings_.linger_s * 1e3)));
  }
  if (spool_ != nullptr) spool_->Close();
  http_.reset();
}

}  // namespace fathom::agent
