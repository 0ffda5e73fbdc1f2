#include "collector/ingest/validate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "collector/admission/limits.h"
#include "collector/agents/probe_requests.h"
#include "fathom/v1/agent.pb.h"
#include "proto/packing/pack_ops.h"
#include "proto/types/bounds.h"
#include "proto/types/collective_kind.h"
#include "proto/types/gpu.h"
#include "proto/types/hardware_metric.h"
#include "proto/types/issue_latency.h"

namespace fathom::collector {
namespace {

using enum RejectReason;

bool Printable(const std::string& text, std::size_t limit) {
  if (text.size() > limit) return false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return true;
}

constexpr std::int64_t kLongNs = std::int64_t{1} << 57;  // of a duration: four years

bool Within(std::int64_t number, std::int64_t most) { return number >= -most && number <= most; }
bool Duration(std::int64_t ns) { return ns >= 0 && ns <= kLongNs; }
// Neither an infinity nor what is no number.
bool Amount(double x, double most = std::numeric_limits<double>::max()) {
  return x >= 0 && x <= most;
}
bool Counted(std::uint64_t ns) { return ns <= static_cast<std::uint64_t>(kFarMonoNs); }

bool Name(const std::string& text) { return !text.empty() && Printable(text, kMaxNameBytes); }

Rejection CheckWho(const std::string& job, std::uint32_t rank) {
  if (!Name(job)) return kBadString;
  if (rank >= kMaxWorldSize) return kBadRank;
  return std::nullopt;
}

Rejection Check(const v1::Hello& hello) {
  if (!Name(hello.node()) || !Printable(hello.version(), kMaxNameBytes)) return kBadString;
  if (!Printable(hello.boot_id(), kMaxNameBytes)) return kBadString;
  return std::nullopt;
}

// What is said of it ends up in commands that people run.
Rejection CheckGpu(const v1::Gpu& gpu) {
  if (gpu.number() > kMaxGpuNumber) return kBadNumber;
  if (!gpu.bus_id().empty() && !IsPciBusId(gpu.bus_id())) return kBadString;
  return gpu.uuid().empty() || IsGpuUuid(gpu.uuid()) ? Rejection() : kBadString;
}

Rejection Check(const v1::RankInfo& info) {
  if (auto bad = CheckWho(info.job(), info.rank())) return bad;
  if (info.world_size() == 0 || info.world_size() > kMaxWorldSize) return kBadWorldSize;
  if (info.rank() >= info.world_size()) return kBadRank;
  if (!Printable(info.tracer_version(), kMaxNameBytes)) return kBadString;
  if (info.started_wall_ns() < 0 || info.started_wall_ns() > kFarWallNs) return kBadNumber;
  return info.has_gpu() ? CheckGpu(info.gpu()) : std::nullopt;
}

Rejection Check(const v1::GroupInfo& group) {
  if (auto bad = CheckWho(group.job(), group.rank())) return bad;
  if (group.id() == 0) return kBadNumber;
  if (!Printable(group.name(), kMaxNameBytes)) return kBadString;
  if (!Printable(group.description(), kMaxTextBytes)) return kBadString;
  const auto members = static_cast<std::size_t>(group.members_size());
  if (group.size() > kMaxWorldSize || members > kMaxWorldSize) return kTooManyMembers;
  if (members != 0 && members != group.size()) return kTooManyMembers;
  for (const std::uint32_t member : group.members()) {
    if (member >= kMaxWorldSize) return kBadRank;
  }
  return std::nullopt;
}

template <typename Message>
bool SoundAges(const Message& message) {
  return std::all_of(message.open_ops().begin(), message.open_ops().end(),
                     [](const v1::OpenOp& op) { return Within(op.age_ns(), kLongNs); });
}

Rejection Check(const v1::RankGone& gone) {
  if (auto bad = CheckWho(gone.job(), gone.rank())) return bad;
  if (gone.open_ops_size() > kMaxOpenOps) return kTooManyGroups;
  if (!SoundAges(gone) || !Within(gone.noticed_wall_ns(), kFarWallNs)) return kBadNumber;
  return Printable(gone.how(), kMaxNameBytes) ? Rejection() : kBadString;
}

bool SameLength(const v1::GroupColumns& g, int n) {
  return g.count_size() == n && g.elapsed_us_size() == n && g.min_us_size() == n &&
         g.max_us_size() == n && g.first_us_size() == n;
}

bool SameLength(const v1::SummaryBatch& b, int n) {
  return b.anchor_step_size() == n && b.cpu_us_size() == n && b.runqueue_us_size() == n &&
         b.blocked_us_size() == n && b.gc_us_size() == n && b.dataloader_us_size() == n &&
         b.op_count_size() == n;
}

// Newer agents may know more classes of operations than this collector.
constexpr int kMaxFlopColumns = 16;

// Columns that agents leave out where they say nothing, and that older ones do not know.
bool AbsentOrOfLength(int length, int wanted) { return length == 0 || length == wanted; }

bool SoundRareColumns(const v1::SummaryBatch& batch, int n) {
  return AbsentOrOfLength(batch.device_wait_us_size(), n) &&
         AbsentOrOfLength(batch.batch_elements_size(), n) &&
         AbsentOrOfLength(batch.loader_starved_us_size(), n) &&
         AbsentOrOfLength(batch.issued_size(), n * static_cast<int>(kIssueBuckets)) &&
         AbsentOrOfLength(batch.void_between_us_size(), n) &&
         batch.void_within_us_size() == batch.void_between_us_size() &&
         AbsentOrOfLength(batch.unsure_us_size(), n) &&
         batch.beside_us_size() == batch.unsure_us_size() &&
         batch.leading_us_size() == batch.unsure_us_size() &&
         batch.flop_size() <= kMaxFlopColumns &&
         std::all_of(batch.flop().begin(), batch.flop().end(),
                     [n](const auto& column) { return column.flop_size() == n; });
}

Rejection Check(const v1::SummaryBatch& batch) {
  if (auto bad = CheckWho(batch.job(), batch.rank())) return bad;
  const int n = batch.duration_us_size();
  if (n > kMaxIterationsPerBatch) return kTooManyIterations;
  if (n == 0 || !SameLength(batch, n) || !SoundRareColumns(batch, n)) return kColumnLengths;
  if (batch.groups_size() > kMaxGroupsPerBatch) return kTooManyGroups;
  for (const auto& group : batch.groups()) {
    if (!SameLength(group, n)) return kColumnLengths;
    if (group.group() == 0) return kBadNumber;
  }
  if (batch.first_iteration() < 0 || batch.first_iteration() > kFarIteration) return kBadNumber;
  if (batch.first_begin_mono_ns() < 0 || batch.first_begin_mono_ns() > kFarMonoNs) {
    return kBadNumber;
  }
  if (!Within(batch.mono_to_wall_ns(), kFarWallNs)) return kBadNumber;
  for (const std::int64_t step : batch.anchor_step()) {
    if (step < -kMaxAnchorStep || step > kMaxAnchorStep) return kBadNumber;
  }
  return std::nullopt;
}

bool Sound(const v1::CommOp& op) {
  for (const std::int64_t ns : {op.enter_ns(), op.return_ns(), op.exec_start_ns(), op.end_ns(),
                                op.wait_start_ns(), op.wait_end_ns(), op.cpu_at_enter_ns(),
                                op.runqueue_at_enter_ns(), op.launch_ns(), op.gpu_wait_ns()}) {
    if (!Within(ns, kFarMonoNs)) return false;
  }
  return Within(op.iteration(), kFarIteration);
}

bool Sound(const v1::Mark& mark) {
  return Within(mark.begin_ns(), kFarMonoNs) && Within(mark.end_ns(), kFarMonoNs) &&
         Within(mark.iteration(), kFarIteration);
}

Rejection Check(const v1::RowsReply& reply) {
  if (reply.request_id() == 0) return kUnasked;
  if (!Printable(reply.error(), kMaxTextBytes)) return kBadString;
  for (const auto& rank : reply.ranks()) {
    if (auto bad = CheckWho(reply.job(), rank.rank())) return bad;
    if (rank.ops_size() > kMaxRowsPerRank || rank.marks_size() > kMaxRowsPerRank) {
      return kTooManyRows;
    }
    for (const auto& op : rank.ops()) {
      if (!Sound(op)) return kBadNumber;
    }
    for (const auto& mark : rank.marks()) {
      if (!Printable(mark.name(), kMaxNameBytes)) return kBadString;
      if (!Sound(mark)) return kBadNumber;
    }
    if (rank.iterations_missing_size() > kMaxIterationsPerRequest) return kTooManyIterations;
  }
  return std::nullopt;
}

// What is packed is looked at when it is unpacked.
Rejection Check(const v1::OpsBlock& block) {
  if (!Name(block.job())) return kBadString;
  if (block.ranks_size() == 0 || block.ranks_size() > kMaxPackedRanks) return kTooManyRows;
  for (const std::uint32_t rank : block.ranks()) {
    if (rank >= kMaxWorldSize) return kBadRank;
  }
  return block.raw_bytes() <= kMaxPackedBytes ? Rejection() : kTooManyRows;
}

bool Sound(const v1::StackSample& stack) {
  return stack.frames_size() <= kMaxFrames && Printable(stack.error(), kMaxFrameBytes) &&
         Printable(stack.source(), kMaxFrameBytes) &&
         std::all_of(stack.frames().begin(), stack.frames().end(),
                     [](const std::string& frame) { return Printable(frame, kMaxFrameBytes); });
}

Rejection Check(const v1::RankHealth& health) {
  if (auto bad = CheckWho(health.job(), health.rank())) return bad;
  if (!Printable(health.state(), 8) || !Printable(health.wait_channel(), kMaxNameBytes)) {
    return kBadString;
  }
  if (!Printable(health.window_refused(), kMaxNameBytes)) return kBadString;
  if (!Printable(health.open_mark(), kMaxNameBytes) || !Sound(health.stack())) return kBadString;
  if (health.sockets_size() > kMaxSockets) return kTooManyGroups;
  for (const auto& socket : health.sockets()) {
    if (!Printable(socket.local(), kMaxNameBytes) || !Printable(socket.peer(), kMaxNameBytes)) {
      return kBadString;
    }
    if (!Duration(socket.since_received_ns())) return kBadNumber;
  }
  if (health.transfers_size() > kMaxTransfers) return kTooManyGroups;
  for (const auto& transfer : health.transfers()) {
    if (!Duration(transfer.still_ns())) return kBadNumber;
  }
  if (health.open_ops_size() > kMaxOpenOps || health.groups_size() > kMaxHealthGroups) {
    return kTooManyGroups;
  }
  if (health.tracer_drops_size() > kMaxDropReasons) return kBadNumber;
  for (const auto& [reason, count] : health.tracer_drops()) {
    if (!Name(reason)) return kBadString;
  }
  const bool sound =
      Duration(health.last_event_age_ns()) && Duration(health.typical_iteration_ns()) &&
      Duration(health.recent_pause_ns()) && Duration(health.longest_pause_ns()) &&
      Counted(health.cpu_ns()) && Counted(health.training_thread_cpu_ns()) &&
      Counted(health.runqueue_wait_ns()) && SoundAges(health) &&
      Duration(health.open_mark_age_ns()) && Counted(health.descendants().cpu_ns()) &&
      health.iterations_seen() >= 0 && health.iterations_seen() <= kFarIteration;
  return sound ? Rejection() : kBadNumber;
}

// Kinds and metrics that only a later agent knows are the table's to leave out.
Rejection Check(const v1::HardwareDevice& device) {
  if (!Name(device.name())) return kBadString;
  const bool gpu = device.kind() == static_cast<std::uint32_t>(DeviceKind::kGpu);
  if (gpu && !IsPciBusId(device.name())) return kBadString;
  if (device.readings_size() > kMaxHardwareReadings) return kTooManyRows;
  for (const auto& reading : device.readings()) {
    if (!std::isfinite(reading.value())) return kBadNumber;
    if (!Printable(reading.note(), kMaxNameBytes)) return kBadString;
  }
  return std::nullopt;
}

Rejection Check(const v1::NodeHardware& hardware) {
  if (hardware.sampled_wall_ns() < 0 || hardware.sampled_wall_ns() > kFarWallNs) return kBadNumber;
  if (hardware.devices_size() > kMaxHardwareDevices ||
      hardware.later_size() > kMaxHardwareDevices || hardware.sources_size() > kMaxDropReasons) {
    return kTooManyRows;
  }
  for (const auto& device : hardware.devices()) {
    if (Rejection why = Check(device)) return why;
  }
  for (const auto& device : hardware.later()) {
    if (Rejection why = Check(device)) return why;
  }
  for (const auto& source : hardware.sources()) {
    if (!Name(source.name()) || !Name(source.state())) return kBadString;
    if (!Printable(source.reason(), kMaxTextBytes)) return kBadString;
  }
  return std::nullopt;
}

Rejection Check(const v1::HealthBatch& batch) {
  if (batch.has_node()) {
    const auto& node = batch.node();
    if (!Printable(node.node(), kMaxNameBytes)) return kBadString;
    if (!std::isfinite(node.cpu_busy_ratio()) || !std::isfinite(node.load1())) return kBadNumber;
    if (node.sampled_wall_ns() < 0 || node.sampled_wall_ns() > kFarWallNs) return kBadNumber;
  }
  for (const auto& rank : batch.ranks()) {
    if (auto bad = Check(rank)) return bad;
  }
  return batch.has_hardware() ? Check(batch.hardware()) : std::nullopt;
}

Rejection Check(const v1::RankWindow& window) {
  if (window.rank() >= kMaxWorldSize) return kBadRank;
  if (!Printable(window.state(), kMaxNameBytes)) return kBadString;
  if (!Printable(window.reason(), kMaxTextBytes)) return kBadString;
  if (window.sums_size() > kMaxActivitySums) return kTooManyRows;
  if (window.opened_ns() < 0 || window.closed_ns() < window.opened_ns() ||
      window.closed_ns() > kFarMonoNs || !Duration(window.busy_ns())) {
    return kBadNumber;
  }
  for (const auto& sum : window.sums()) {
    if (!Printable(sum.kind(), kMaxNameBytes) || !Printable(sum.name(), kMaxNameBytes)) {
      return kBadString;
    }
    if (!Duration(sum.total_ns()) || !Duration(sum.longest_ns())) return kBadNumber;
  }
  return std::nullopt;
}

Rejection Check(const v1::WindowReply& reply) {
  if (reply.request_id() == 0) return kUnasked;
  if (!Name(reply.job())) return kBadString;
  for (const auto& window : reply.ranks()) {
    if (auto bad = Check(window)) return bad;
  }
  return std::nullopt;
}

Rejection Check(const v1::TraceReply& reply) {
  if (reply.request_id() == 0) return kUnasked;
  if (!Name(reply.job())) return kBadString;
  for (const auto& told : reply.ranks()) {
    if (told.rank() >= kMaxWorldSize) return kBadRank;
    if (!Printable(told.state(), kMaxNameBytes)) return kBadString;
    if (!Printable(told.reason(), kMaxTextBytes)) return kBadString;
  }
  return std::nullopt;
}

Rejection Check(const v1::StackReply& reply) {
  if (reply.request_id() == 0) return kUnasked;
  if (!Name(reply.job())) return kBadString;
  for (const auto& told : reply.ranks()) {
    if (told.rank() >= kMaxWorldSize) return kBadRank;
    if (!Printable(told.error(), kMaxTextBytes) || !Sound(told.stack())) return kBadString;
  }
  return std::nullopt;
}

using Patterns = google::protobuf::RepeatedPtrField<v1::StackPattern>;

// The places of its stacks lie in its table of frames.
bool SoundStacks(const Patterns& patterns, int frames, std::uint64_t left_out,
                 std::uint64_t of_samples) {
  std::uint64_t samples = left_out;
  for (const auto& pattern : patterns) {
    samples += pattern.count();
    if (pattern.frames_size() > kMaxCaptureDepth) return false;
    for (const std::uint32_t place : pattern.frames()) {
      if (place >= static_cast<std::uint32_t>(frames)) return false;
    }
  }
  return samples <= of_samples;
}

// Pairs; which stack they name is looked up where they are read.
bool SoundOrder(const google::protobuf::RepeatedField<std::uint32_t>& order) {
  return order.size() % 2 == 0 && order.size() <= kMaxCaptureOrder;
}

bool SoundStacks(const v1::RankCapture& capture) {
  const int frames = capture.frames_size();
  return SoundStacks(capture.stacks(), frames, capture.left_out(), capture.samples()) &&
         SoundStacks(capture.worker_stacks(), frames, 0, capture.worker_samples()) &&
         SoundStacks(capture.beside_stacks(), frames, 0, capture.beside_samples()) &&
         SoundOrder(capture.order());
}

Rejection Check(const v1::RankCapture& capture) {
  if (capture.rank() >= kMaxWorldSize) return kBadRank;
  if (!Printable(capture.state(), kMaxNameBytes) || !Printable(capture.source(), kMaxNameBytes) ||
      !Printable(capture.reason(), kMaxTextBytes)) {
    return kBadString;
  }
  if (capture.frames_size() > kMaxCaptureFrames || capture.stacks_size() > kMaxCaptureFrames ||
      capture.worker_stacks_size() > kMaxCaptureFrames ||
      capture.beside_stacks_size() > kMaxCaptureFrames || capture.doing_size() > kMaxCaptureDoing) {
    return kTooManyRows;
  }
  for (const auto& frame : capture.frames()) {
    if (!Printable(frame.function(), kMaxTextBytes) || !Printable(frame.file(), kMaxTextBytes)) {
      return kBadString;
    }
  }
  for (const auto& [name, looks] : capture.doing()) {
    if (!Name(name)) return kBadString;
  }
  const bool lasted = Amount(capture.seconds(), kMaxCaptureSeconds);
  return lasted && SoundStacks(capture) ? Rejection() : kBadNumber;
}

Rejection Check(const v1::CaptureReply& reply) {
  if (reply.request_id() == 0) return kUnasked;
  if (!Name(reply.job())) return kBadString;
  for (const auto& capture : reply.ranks()) {
    if (auto bad = Check(capture)) return bad;
  }
  return std::nullopt;
}

bool Sound(const v1::GroupWork& work) {
  constexpr double kMostCalls = 1e9, kMostBytes = 1e18;  // an iteration
  return work.size() <= kMaxWorldSize && work.kind() < kCollectiveKindCount &&
         Amount(work.calls(), kMostCalls) && Amount(work.bytes(), kMostBytes);
}

Rejection Check(const v1::RunFacts& run) {
  if (auto bad = CheckWho(run.job(), run.rank())) return bad;
  for (const auto& text : {run.profile(), run.program(), run.framework(), run.device()}) {
    if (!Printable(text, kMaxNameBytes)) return kBadString;
  }
  if (run.facts_size() > kMaxRunFacts || run.work_size() > kMaxRunWork) return kTooManyRows;
  for (const auto& [name, value] : run.facts()) {
    if (!Name(name) || !Printable(value, kMaxNameBytes)) return kBadString;
  }
  return std::all_of(run.work().begin(), run.work().end(),
                     [](const v1::GroupWork& work) { return Sound(work); })
             ? Rejection()
             : kBadNumber;
}

Rejection Check(const v1::ProbeAnswer& answer) {
  if (!Printable(answer.refused(), kMaxTextBytes)) return kBadString;
  return answer.lines().size() <= ProbeRequests::kMostBytes ? Rejection() : kTooManyRows;
}

bool Sound(const v1::PlanSpend& spend) {
  return Amount(spend.cores()) && Amount(spend.bytes_per_s()) && Amount(spend.memory_bytes());
}

Rejection Check(const v1::NodePlan& plan) {
  if (plan.parts_size() > kMaxPlanParts) return kTooManyRows;
  if (!Printable(plan.why(), kMaxTextBytes)) return kBadString;
  if (!Sound(plan.budget()) || !Sound(plan.spend())) return kBadNumber;
  if (!Within(plan.told_wall_ns(), kFarWallNs) || !Within(plan.changed_wall_ns(), kFarWallNs)) {
    return kBadNumber;
  }
  for (const v1::PlanPart& part : plan.parts()) {
    if (!Name(part.name()) || !Printable(part.rate(), kMaxNameBytes)) return kBadString;
    const bool numbers = Sound(part.spend()) && std::isfinite(part.ns_per_event()) &&
                         std::isfinite(part.events_per_s());
    if (!numbers) return kBadNumber;
  }
  return std::nullopt;
}

Rejection Check(const v1::AgentCounters& counters) {
  if (counters.records_dropped_size() > kMaxDropReasons) return kBadNumber;
  for (const auto& [reason, count] : counters.records_dropped()) {
    if (!Name(reason)) return kBadString;
  }
  return std::nullopt;
}

}  // namespace

Rejection Validate(const v1::AgentMessage& message) {
  switch (message.body_case()) {
    case v1::AgentMessage::kHello:
      return Check(message.hello());
    case v1::AgentMessage::kRank:
      return Check(message.rank());
    case v1::AgentMessage::kGroup:
      return Check(message.group());
    case v1::AgentMessage::kGone:
      return Check(message.gone());
    case v1::AgentMessage::kSummary:
      return Check(message.summary());
    case v1::AgentMessage::kRows:
      return Check(message.rows());
    case v1::AgentMessage::kWindow:
      return Check(message.window());
    case v1::AgentMessage::kTrace:
      return Check(message.trace());
    case v1::AgentMessage::kStacks:
      return Check(message.stacks());
    case v1::AgentMessage::kCapture:
      return Check(message.capture());
    case v1::AgentMessage::kOps:
      return Check(message.ops());
    case v1::AgentMessage::kProbe:
      return Check(message.probe());
    case v1::AgentMessage::kFacts:
      return Check(message.facts());
    case v1::AgentMessage::kHealth:
      return Check(message.health());
    case v1::AgentMessage::kCounters:
      return Check(message.counters());
    case v1::AgentMessage::kPlan:
      return Check(message.plan());
    case v1::AgentMessage::BODY_NOT_SET:
      return std::nullopt;  // a body of a later version: ignored, acknowledged
  }
  return std::nullopt;
}

}  // namespace fathom::collector
