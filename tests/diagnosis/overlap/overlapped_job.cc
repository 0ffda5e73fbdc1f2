#include "tests/diagnosis/overlap/overlapped_job.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "daemon/abi/device_calls.h"
#include "daemon/agent/pipeline/hidden_ops.h"
#include "daemon/agent/pipeline/rank_pipeline.h"
#include "diagnosis/peers/beside_time.h"

namespace fathom::diagnosis::testing {
namespace {

using abi::EventRecord;
using abi::RecordKind;
using What = DeviceStep::What;

constexpr std::int64_t kGpuClockAhead = 5'000'000'000;
constexpr std::int64_t kHeardLater = 2'000;
constexpr double kLaunchMs = 0.02;  // of the host, for a step
constexpr std::uint32_t kThread = 7;
constexpr std::uint16_t kAllSlot = 0, kPairSlot = 1;

std::int64_t Ns(double ms) { return static_cast<std::int64_t>(ms * 1e6); }

// One process: its device's clock, its host's, and its agent's pipeline.
class PlayedProcess {
 public:
  PlayedProcess(const OverlappedJob& job, std::uint32_t rank)
      : job_(job),
        rank_(rank),
        pipeline_(agent::PipelineSettings{}),
        random_(job.seed * 977 + rank) {
    std::vector<agent::GroupFacts> facts(2);
    for (std::uint32_t r = 0; r < job.ranks; ++r) facts[kAllSlot].members.push_back(r);
    facts[kPairSlot].members = {rank / 2 * 2, rank / 2 * 2 + 1};
    facts[kAllSlot].name = "all";
    facts[kPairSlot].name = "pair " + std::to_string(rank / 2);
    for (agent::GroupFacts& each : facts) {
      each.ready = true;
      each.size = static_cast<std::uint32_t>(each.members.size());
    }
    pipeline_.TakeGroups(facts, job.ranks);
  }

  void Compute(double ms) {
    const double slower = rank_ == job_.rank ? 1 + job_.slower : 1;
    device_ += ms * slower * (1 + job_.noise * normal_(random_));
    host_ += kLaunchMs;
  }
  void Pause(double ms) {
    host_ = std::max(host_, device_) + ms;
    device_ = host_;
  }

  // Returns when its stream comes to it.
  double Launch(const DeviceStep& step) {
    waits_ += step.waits;
    TellCalls();
    EventRecord enter = Record(RecordKind::kOpEnter, host_);
    enter.flags = abi::kFlagDevice | abi::kFlagAsync;
    enter.collective_kind = static_cast<std::uint8_t>(step.kind);
    enter.group_slot = step.pairs ? kPairSlot : kAllSlot;
    enter.op_id = ++op_ids_;
    enter.sequence = sequences_[enter.group_slot]++;
    enter.bytes = (1 << 20) + step.op;
    enter.extra = 100 + step.stream;
    events_.push_back(enter);
    host_ += kLaunchMs;
    return begun_ = std::max(device_, free_[step.stream]);
  }
  void End(const DeviceStep& step, double end) {
    Gpu(RecordKind::kGpuStart, begun_);
    Gpu(RecordKind::kGpuEnd, end);
    free_[step.stream] = end;
    ends_[step.op] = end;
  }
  void Wait(const DeviceStep& step) {
    ++waits_;
    device_ = std::max(device_, ends_[step.op]);
  }

  // The host waits for its device, prints the loss, and goes on.
  void EndIteration() {
    TellCalls();
    Sync(RecordKind::kSyncStart, host_);
    host_ = std::max(host_, device_);
    Sync(RecordKind::kSyncEnd, host_);
    device_ = host_ = host_ + 0.05;
    std::stable_sort(events_.begin(), events_.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    pipeline_.Take(events_);
    events_.clear();
    Close();
  }

  void Finish() {
    pipeline_.Finish();
    Close();
  }
  const std::vector<agent::IterationSummary>& summaries() const { return summaries_; }
  agent::RankPipeline& pipeline() { return pipeline_; }
  std::uint32_t rank() const { return rank_; }

 private:
  EventRecord Record(RecordKind kind, double at) const {
    EventRecord record{};
    record.record_kind = static_cast<std::uint8_t>(kind);
    record.time_ns = Ns(at);
    record.thread_id = kThread;
    record.group_slot = abi::kNoGroupSlot;
    record.peer = abi::kNoPeer;
    record.sequence = abi::kNoSequence64;
    return record;
  }
  void TellCalls() {
    EventRecord record = Record(RecordKind::kDeviceCalls, host_);
    abi::PackDeviceCalls({.launches = 5,
                          .events = 2,
                          .waits = static_cast<std::uint16_t>(std::exchange(waits_, 0)),
                          .sampled = 1,
                          .sampled_ns = 2'000},
                         record);
    events_.push_back(record);
  }
  void Sync(RecordKind kind, double at) {
    EventRecord record = Record(kind, at);
    record.extra = static_cast<std::uint64_t>(abi::SyncKind::kDevice);
    events_.push_back(record);
  }
  void Gpu(RecordKind kind, double at) {
    EventRecord record = Record(kind, at);
    record.time_ns += kHeardLater;
    record.op_id = op_ids_;
    record.extra = static_cast<std::uint64_t>(Ns(at) + kGpuClockAhead);
    events_.push_back(record);
  }
  void Close() {
    pipeline_.Close();
    for (auto run = pipeline_.TakeClosed(); !run.summaries.empty(); run = pipeline_.TakeClosed()) {
      summaries_.insert(summaries_.end(), run.summaries.begin(), run.summaries.end());
    }
  }

  const OverlappedJob& job_;
  const std::uint32_t rank_;
  agent::RankPipeline pipeline_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::vector<EventRecord> events_;
  std::vector<agent::IterationSummary> summaries_;
  std::map<std::size_t, double> ends_, free_;  // by op, by stream
  std::map<std::uint16_t, std::uint64_t> sequences_;
  double device_ = 1000, host_ = 1000, begun_ = 0;
  std::uint64_t op_ids_ = 0;
  int waits_ = 0;
};

using Processes = std::vector<std::unique_ptr<PlayedProcess>>;

void LaunchAll(const OverlappedJob& job, const DeviceStep& step, Processes& all) {
  std::map<std::uint32_t, double> latest;
  std::vector<double> ends;
  const auto group = [&](std::size_t r) {
    return step.pairs ? static_cast<std::uint32_t>(r / 2) : 0;
  };
  for (std::size_t r = 0; r < all.size(); ++r) {
    double& last = latest[group(r)];
    last = std::max(last, all[r]->Launch(step));
  }
  for (std::size_t r = 0; r < all.size(); ++r) {
    const bool slow = step.pairs && group(r) == 1 && job.slow_pair_ms > 0;
    all[r]->End(step, latest[group(r)] + (slow ? job.slow_pair_ms : step.ms));
  }
}

void PlayIteration(const OverlappedJob& job, Processes& all) {
  for (std::size_t k = 0; k < job.program.size(); ++k) {
    const DeviceStep& step = job.program[k];
    if (job.pause_ms > 0 && k == job.pause_at) all[job.rank]->Pause(job.pause_ms);
    if (step.what == What::kLaunch) {
      LaunchAll(job, step, all);
      continue;
    }
    for (auto& each : all) {
      if (step.what == What::kCompute) each->Compute(step.ms);
      if (step.what == What::kWait) each->Wait(step);
    }
  }
  for (auto& each : all) each->EndIteration();
}

RankIteration Told(PlayedProcess& process, const agent::IterationSummary& summary, bool old) {
  RankIteration row;
  row.rank = RankId(process.rank());
  row.begin = MonoNs(summary.span.begin_ns);
  row.duration = Nanos(summary.span.end_ns - summary.span.begin_ns);
  row.blocked = Nanos(summary.blocked_ns);
  row.unsure = Nanos(summary.unsure_ns);
  row.beside = Nanos(summary.beside_ns);
  row.leading = Nanos(summary.leading_ns);
  row.device_wait = Nanos(summary.device_wait_ns);
  row.ops = summary.ops;
  for (const auto& [slot, group] : summary.groups) {
    row.groups.push_back({process.pipeline().Group(slot).id, group.count, Nanos(group.elapsed_ns),
                          Nanos(group.shortest_ns), Nanos(group.longest_ns),
                          Nanos(group.first_ns)});
  }
  if (!old) return row;
  // Each moment of an op was blocked.
  row.blocked = Nanos();
  for (const GroupIteration& group : row.groups) row.blocked += group.elapsed;
  row.unsure = row.beside = row.leading = Nanos();
  return row;
}

RankRows RowsOf(PlayedProcess& process, bool old) {
  RankRows rows;
  const agent::OpLog& log = process.pipeline().log();
  const std::vector<agent::OpCover> covers = agent::CoversOf(log, log.first(), log.next() - 1);
  for (std::uint64_t i = log.first(); i < log.next(); ++i) {
    const agent::OpRow& row = log.At(i);
    const agent::OpRow* before = i == log.first() ? nullptr : log.Find(i - 1);
    CommOp op;
    op.group = process.pipeline().Group(row.group_slot).id;
    op.sequence = Sequence(row.sequence);
    op.kind = row.kind;
    op.bytes = row.bytes;
    op.iteration = Iteration(row.iteration);
    op.enter = MonoNs(row.arrival_ns());
    op.exec_start = MonoNs(row.exec_start_ns);
    op.end = MonoNs(row.end_ns);
    op.cpu_at_enter = Nanos(row.device_busy_ns);
    if (before != nullptr) {
      op.device_wait = Nanos(row.device_calls.waiting_ns - before->device_calls.waiting_ns);
    }
    op.hidden = !old && covers[i - log.first()].state == agent::OpCover::State::kHidden;
    rows.ops.push_back(op);
  }
  return rows;
}

void AddGroups(const OverlappedJob& job, PlayedProcess& process, JobView& view) {
  for (const std::uint16_t slot : {kAllSlot, kPairSlot}) {
    const agent::GroupIdentity& identity = process.pipeline().Group(slot);
    const bool known = std::any_of(view.groups.begin(), view.groups.end(),
                                   [&](const Group& each) { return each.id == identity.id; });
    if (known) continue;
    Group& group = view.groups.emplace_back();
    group.id = identity.id;
    group.description = slot == kAllSlot ? "all" : "pair";
    for (const std::uint32_t member : identity.members) group.members.emplace_back(member);
    group.size = slot == kAllSlot ? job.ranks : 2;
  }
}

}  // namespace

std::vector<DeviceStep> DdpProgram(double forward, double backward, double optimizer,
                                   double communication, std::size_t buckets) {
  std::vector<DeviceStep> program = {{.what = What::kCompute, .ms = forward}};
  const auto n = static_cast<double>(buckets);
  for (std::size_t b = 0; b < buckets; ++b) {
    program.push_back({.what = What::kCompute, .ms = backward / n});
    program.push_back({.what = What::kLaunch, .ms = communication / n, .op = b});
  }
  for (std::size_t b = 0; b < buckets; ++b) program.push_back({.what = What::kWait, .op = b});
  program.push_back({.what = What::kCompute, .ms = optimizer});
  return program;
}

double IterationMs(const JobView& view) {
  double sum = 0;
  for (std::size_t i = 1; i < view.window.size(); ++i) {
    sum += view.window[i].ranks.front().duration.Seconds() * 1e3;
  }
  return sum / static_cast<double>(view.window.size() - 1);
}

JobView PlayOverlapped(const OverlappedJob& job) {
  Processes all;
  for (std::uint32_t r = 0; r < job.ranks; ++r) {
    all.push_back(std::make_unique<PlayedProcess>(job, r));
  }
  for (int i = 0; i < job.iterations; ++i) PlayIteration(job, all);
  JobView view;
  view.name = "overlapped";
  view.world_size = job.ranks;
  view.nodes = 1;
  std::map<std::int64_t, IterationSummary> window;
  for (auto& each : all) {
    each->Finish();
    AddGroups(job, *each, view);
    const int rank = static_cast<int>(each->rank());
    if (rank == job.missing) continue;
    const bool old = rank == job.untold;
    for (const agent::IterationSummary& summary : each->summaries()) {
      window[summary.span.number].ranks.push_back(Told(*each, summary, old));
    }
    view.rows[RankId(each->rank())] = RowsOf(*each, old);
    view.ranks.emplace_back().rank = RankId(each->rank());
  }
  std::sort(view.groups.begin(), view.groups.end(),
            [](const Group& a, const Group& b) { return a.id < b.id; });
  for (auto& [number, iteration] : window) {
    iteration.index = Iteration(number);
    iteration.begin = WallNs(1 + iteration.ranks.front().begin.ns);
    SettleBlocked(view.groups, iteration);
    view.window.push_back(std::move(iteration));
  }
  view.iterations_seen = static_cast<std::int64_t>(view.window.size());
  return view;
}

}  // namespace fathom::diagnosis::testing
