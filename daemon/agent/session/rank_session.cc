#include "daemon/agent/session/rank_session.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/agent/source/process/gpu_information.h"

namespace fathom::agent {
namespace {

constexpr std::int64_t kHeartbeatEveryNs = 1'000'000'000;
constexpr std::int64_t kDeviceLookEveryNs = 1'000'000'000;
constexpr std::int64_t kSilentAtLeastNs = 2'000'000'000;
constexpr std::int64_t kSilentIterations = 3;
constexpr std::int64_t kExitTakesNs = 2'000'000'000;
// A wait for a core that may be the CPU limit's doing; limits hold back for a tenth of a second.
constexpr std::int64_t kLongWaitNs = 1'000'000;
constexpr std::int64_t kLongSilenceNs = 20'000'000;
constexpr std::int64_t kLimitEveryNs = 10'000'000;

constexpr char kUnreadable[] = "its ring cannot be read any more";
constexpr char kNoMember[] = "not a member of that communicator";

bool SomeNotReady(std::span<const GroupFacts> facts) {
  return std::any_of(facts.begin(), facts.end(), [](const GroupFacts& g) { return !g.ready; });
}

// The one that all communicators which tell theirs are on; none where they differ.
std::optional<Gpu> OnlyGpuOf(std::span<const GroupFacts> facts) {
  std::optional<Gpu> only;
  for (const GroupFacts& group : facts) {
    if (!group.gpu) continue;
    if (only && *only != *group.gpu) return std::nullopt;
    only = group.gpu;
  }
  return only;
}

}  // namespace

RankSession::RankSession(std::string name, RegionReader region, const SessionSettings& settings)
    : name_(std::move(name)),
      settings_(settings),
      region_(std::make_unique<RegionReader>(std::move(region))),
      identity_(region_->identity()),
      owner_(region_->owner()),
      capacity_(region_->record_count()),
      consumer_(std::make_unique<RingConsumer>(*region_)),
      table_(std::make_unique<GroupTable>(*region_)),
      sampler_(std::make_unique<ThreadSampler>(settings.roots, identity_.pid)),
      workers_(std::make_unique<WorkerSampler>(settings.roots, identity_.pid)),
      limit_(std::make_unique<CpuLimitReader>(settings.roots, identity_.pid)),
      stops_(std::make_unique<StopWatch>(settings.roots, identity_.pid)),
      pipeline_(settings.pipeline),
      window_(settings.folder) {
  if (identity_.job.empty()) identity_.job = "default";
  pipeline_.SetMainThread(identity_.pid);
}

absl::StatusOr<RankSession::PollResult> RankSession::Poll(std::int64_t now_ns) {
  PollResult result;
  if (broken_ || region_ == nullptr) return result;
  absl::Status status = Drain(now_ns, false, result);
  if (!status.ok()) {
    broken_ = true;
    return status;
  }
  if (result.records > 0) {
    SampleThreads(now_ns);
    SampleWorkers(now_ns);
  }
  LookForStops(now_ns);
  const CostMeter::In in(settings_.meter, WorkPart::kSummaries);
  pipeline_.Close();
  return result;
}

absl::Status RankSession::Drain(std::int64_t now_ns, bool last_call, PollResult& result) {
  absl::StatusOr<ControlSnapshot> control = region_->ReadControl();
  if (!control.ok()) return control.status();
  control_ = *control;
  if (control_.group_count > group_facts_.size() || SomeNotReady(group_facts_) ||
      DeviceDue(now_ns)) {
    absl::Status status = table_->Refresh(control_.group_count);
    if (!status.ok()) return status;
    TakeGroups(result);
  }
  absl::StatusOr<std::uint64_t> moved =
      consumer_->Drain(control_.head, now_ns, settings_.max_records_per_poll, last_call,
                       [this](std::span<const abi::EventRecord> records) {
                         if (consumer_->counters().lost > 0 && pipeline_.log().next() == 0) {
                           pipeline_.StartIsMissing();
                         }
                         const CostMeter::In in(settings_.meter, WorkPart::kRecords);
                         pipeline_.Take(records);
                       });
  ring_counters_ = consumer_->counters();
  if (!moved.ok()) return moved.status();
  result.records = *moved;
  Handled(WorkPart::kRecords, *moved);
  if (now_ns - last_heartbeat_ns_ >= kHeartbeatEveryNs) {
    last_heartbeat_ns_ = now_ns;
    return region_->WriteHeartbeat(now_ns);
  }
  return absl::OkStatus();
}

void RankSession::TakeGroups(PollResult& result) {
  group_facts_.assign(table_->groups().begin(), table_->groups().end());
  group_progress_.assign(table_->progress().begin(), table_->progress().end());
  if (!rank_known() && !group_facts_.empty() && group_facts_[0].ready) {
    identity_.rank = group_facts_[0].my_rank;
    identity_.world_size = group_facts_[0].size;
  }
  result.new_groups = pipeline_.TakeGroups(group_facts_, identity_.world_size);
  TakeGpu(result);
}

void RankSession::StandApart() { absl::StrAppend(&identity_.job, "-", identity_.pid); }

void RankSession::TakeGpu(PollResult& result) {
  std::optional<Gpu> now = OnlyGpuOf(group_facts_);
  if (now && gpu_ && now->number == gpu_->number && now->bus_id == gpu_->bus_id) return;
  if (!now && !gpu_) return;
  if (now && !now->bus_id.empty()) now->uuid = ReadGpuUuid(settings_.roots, now->bus_id);
  gpu_ = std::move(now);
  result.gpu_changed = true;
}

bool RankSession::DeviceDue(std::int64_t now_ns) {
  if (now_ns - last_device_look_ns_ < kDeviceLookEveryNs) return false;
  last_device_look_ns_ = now_ns;
  return std::any_of(group_facts_.begin(), group_facts_.end(), [](const GroupFacts& group) {
    const bool on_gpu = group.backend == abi::kSourceNccl || group.backend == abi::kSourcePython;
    return on_gpu && !group.device_told && !group.gone;
  });
}

void RankSession::RefreshProgress() {
  if (region_ == nullptr || broken_ || group_facts_.empty()) return;
  if (!table_->Refresh(static_cast<std::uint32_t>(group_facts_.size())).ok()) return;
  group_progress_.assign(table_->progress().begin(), table_->progress().end());
  for (std::size_t slot = 0; slot < group_progress_.size(); ++slot) {
    const std::int64_t stopped_ns = group_progress_[slot].stopped_ns;
    if (stopped_ns == 0) continue;
    pipeline_.joiner().Stop(static_cast<std::uint16_t>(slot), stopped_ns);
  }
}

std::vector<TransferSeen> RankSession::Transfers() const {
  if (region_ == nullptr || broken_) return {};
  return region_->ReadTransfers().value_or(std::vector<TransferSeen>());
}

void RankSession::SampleThreads(std::int64_t now_ns) {
  if (now_ns - last_sample_ns_ < pace_.threads_ns) return;
  const std::int64_t silent_ns = now_ns - std::exchange(last_sample_ns_, now_ns);
  const CostMeter::In in(settings_.meter, WorkPart::kThreads);
  HeldBack& held = pipeline_.held_back();
  std::vector<std::pair<std::uint32_t, ThreadTimes>> threads;
  std::int64_t waited_ns = 0;
  for (const std::uint32_t tid : pipeline_.clock().Threads()) {
    const std::optional<ThreadTimes> times = sampler_->Read(tid);
    Handled(WorkPart::kThreads, 1);
    if (!times.has_value()) continue;
    threads.emplace_back(tid, *times);
    waited_ns = std::max(waited_ns, held.Growth(tid, times->runqueue_ns));
  }
  // Whoever neither waited for a core nor was silent was not held back.
  if (waited_ns >= kLongWaitNs || silent_ns >= kLongSilenceNs) ReadLimit(now_ns);
  for (const auto& [tid, times] : threads) {
    pipeline_.clock().Add(tid,
                          {now_ns, times.cpu_ns, held.Without(tid, now_ns, times.runqueue_ns)});
  }
}

void RankSession::ReadLimit(std::int64_t now_ns) {
  if (now_ns - last_limit_ns_ < kLimitEveryNs) return;
  last_limit_ns_ = now_ns;
  if (const std::optional<CpuLimit> limit = limit_->Read(now_ns)) {
    pipeline_.held_back().Throttled(now_ns, limit->throttled_ns);
    workers_held_back_.Throttled(now_ns, limit->throttled_ns);
  }
}

// Before its first op nothing is compared, and it may well sleep.
void RankSession::LookForStops(std::int64_t now_ns) {
  const std::int64_t moved_ns = pipeline_.newest_op_ns();
  if (moved_ns == 0 || !stops_->Due(now_ns, moved_ns, pace_.threads_ns)) return;
  const CostMeter::In in(settings_.meter, WorkPart::kThreads);
  const auto stopped = stops_->Look(now_ns, moved_ns, pace_.threads_ns);
  if (stopped) pipeline_.held_back().Stopped(stopped->begin_ns, stopped->end_ns);
}

void RankSession::Handled(WorkPart part, std::uint64_t events) const {
  if (settings_.meter != nullptr) settings_.meter->Handled(part, events);
}

void RankSession::SampleWorkers(std::int64_t now_ns) {
  if (now_ns - last_worker_sample_ns_ < pace_.workers_ns) return;
  last_worker_sample_ns_ = now_ns;
  if (!pipeline_.LoadsBatches()) return;
  const CostMeter::In in(settings_.meter, WorkPart::kWorkers);
  std::map<std::uint32_t, std::int64_t> waits = workers_->Read(now_ns);
  Handled(WorkPart::kWorkers, waits.size());
  if (!waits.empty()) ReadLimit(now_ns);
  for (auto& [pid, waited] : waits) waited = workers_held_back_.Without(pid, now_ns, waited);
  if (!waits.empty()) pipeline_.workers().Add(now_ns, waits);
}

RankSession::~RankSession() {
  if (pidfd_ >= 0) close(pidfd_);
}

bool RankSession::Exited() const {
  if (pidfd_ < 0) return false;
  pollfd ended{pidfd_, POLLIN, 0};
  return poll(&ended, 1, 0) == 1 && (ended.revents & POLLIN) != 0;
}

bool RankSession::IsGone(std::int64_t now_ns) {
  const ProcessLife life = ReadLife(settings_.roots, identity_.pid, identity_.start_time_ticks);
  if (life.alive || life.exit_code >= 0) life_ = life;
  if (life.alive) {
    if (!seen_alive_) pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, identity_.pid, 0));
    seen_alive_ = true;
    return false;
  }
  life_.alive = false;
  const auto heartbeat = static_cast<std::int64_t>(control_.heartbeat_ns);
  const std::int64_t last = std::max(last_event_ns(), std::min(heartbeat, now_ns));
  // Its own word that it was about to end needs no witness.
  const std::int64_t patience = control_.exiting ? kExitTakesNs : settings_.unseen_silence_ns;
  return seen_alive_ || now_ns - last >= patience;
}

RankSession::PollResult RankSession::Retire(std::int64_t now_ns) {
  PollResult result;
  if (region_ == nullptr) return result;
  if (!broken_) (void)Drain(now_ns, true, result);
  RefreshProgress();
  ReadFunctionNames();  // while the table can be read
  pipeline_.Finish();
  consumer_.reset();
  table_.reset();
  sampler_.reset();
  workers_.reset();
  limit_.reset();
  stops_.reset();
  region_.reset();
  return result;
}

absl::Status RankSession::AskWindow(std::uint64_t request_id, GroupId group, WindowOrder order) {
  if (region_ == nullptr || broken_) return absl::NotFoundError(kUnreadable);
  const std::optional<std::uint32_t> slot = SlotOf(group);
  if (!slot) return absl::NotFoundError(kNoMember);
  order.group_slot = *slot;
  return window_.Ask(*region_, request_id, order);
}

bool RankSession::HasGroupOf(abi::SourceBit source) const {
  return std::any_of(group_facts_.begin(), group_facts_.end(),
                     [source](const GroupFacts& group) { return group.backend == source; });
}

bool RankSession::TellsByStepsOnly() const { return HasGroupOf(abi::kSourcePython); }

bool RankSession::OnlyThePluginTells() const { return HasGroupOf(abi::kSourceNcclPlugin); }

std::optional<std::uint32_t> RankSession::SlotOf(GroupId group) const {
  for (std::size_t slot = 0; slot < group_facts_.size(); ++slot) {
    if (pipeline_.Group(static_cast<std::uint16_t>(slot)).id != group) continue;
    return static_cast<std::uint32_t>(slot);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> RankSession::NewestSequence(GroupId group) const {
  constexpr std::uint64_t kLookBack = 4096;
  const std::optional<std::uint32_t> slot = SlotOf(group);
  if (!slot || retired()) return std::nullopt;
  const OpLog& log = pipeline_.log();
  std::uint64_t left = std::min(kLookBack, log.next() - log.first());
  for (std::uint64_t at = log.next(); left > 0; --left) {
    const OpRow& row = log.At(--at);
    if (row.group_slot == *slot && row.sequence != abi::kNoSequence64) return row.sequence;
  }
  return std::nullopt;
}

absl::Status RankSession::AskSwitch(std::uint64_t request_id, GroupId group, SwitchWords words,
                                    std::int64_t deadline_ns) {
  if (region_ == nullptr || broken_) return absl::NotFoundError(kUnreadable);
  const bool plugin_off = (words.sources_disabled & abi::kSourceNcclPlugin) != 0;
  const bool python_off = (words.sources_disabled & abi::kSourcePython) != 0;
  if ((plugin_off && OnlyThePluginTells()) || (python_off && TellsByStepsOnly())) {
    return absl::FailedPreconditionError("only_source");
  }
  const std::optional<std::uint32_t> slot = SlotOf(group);
  if (!slot) return absl::NotFoundError(kNoMember);
  words.group_slot = *slot;
  return switches_.Ask(*region_, control_, request_id, words, deadline_ns);
}

std::vector<SwitchOutcome> RankSession::TakeSwitches(std::int64_t now_ns) {
  return region_ == nullptr ? switches_.Abandon() : switches_.Look(control_, now_ns);
}

std::optional<WindowOutcome> RankSession::TakeWindow(std::int64_t now_ns) {
  return region_ == nullptr ? window_.Abandon(identity_) : window_.Look(*region_, now_ns);
}

void RankSession::ReadFunctionNames() {
  if (region_ == nullptr) return;
  auto names = region_->ReadFunctionNames();
  if (names.ok()) function_names_ = *std::move(names);
}

std::string RankSession::FunctionName(std::uint32_t number) {
  if (number >= function_names_.size() && number < abi::kFunctionNames) ReadFunctionNames();
  return number < function_names_.size() ? function_names_[number] : "";
}

std::int64_t RankSession::last_event_ns() const {
  const std::int64_t newest = pipeline_.newest_op_ns();
  return newest != 0 ? newest : identity_.created_mono_ns;
}

bool RankSession::Silent(std::int64_t now_ns) const {
  const std::int64_t typical = pipeline_.typical_iteration_ns();
  return now_ns - last_event_ns() > std::max(kSilentAtLeastNs, kSilentIterations * typical);
}

void RankSession::Note(const ProcessFacts& facts) {
  if (!cgroup_.empty() || facts.cgroup.empty()) return;
  cgroup_ = facts.cgroup;
  first_oom_kills_ = ReadOomKills(cgroup_);
}

std::uint64_t RankSession::OomKills() const {
  return std::max(ReadOomKills(cgroup_), first_oom_kills_) - first_oom_kills_;
}

std::uint32_t RankSession::training_thread() const {
  const auto newest = pipeline_.newest_training_op();
  return newest ? newest->thread_id : identity_.pid;
}

}  // namespace fathom::agent
