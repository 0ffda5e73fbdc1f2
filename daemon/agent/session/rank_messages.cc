#include "daemon/agent/session/rank_messages.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "daemon/agent/session/drop_reason_name.h"
#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {
namespace {

constexpr int kMaxOpenOps = 16;
constexpr std::int64_t kStuckNs = 2'000'000'000;
constexpr std::uint64_t kLastOps = 16;  // among which a failed one explains the end of a process

std::uint32_t Micros(std::int64_t ns) {
  const std::int64_t us = (std::max<std::int64_t>(ns, 0) + 500) / 1000;
  return static_cast<std::uint32_t>(
      std::min<std::int64_t>(us, std::numeric_limits<std::uint32_t>::max()));
}

// A pause that was is not none.
std::uint32_t MicrosUp(Nanos pause) {
  return static_cast<std::uint32_t>((pause.count + 999) / 1000);
}

void AddGroups(const RankPipeline& pipeline, const ClosedIterations& run, v1::SummaryBatch& batch) {
  std::set<std::uint16_t> slots;
  for (const IterationSummary& summary : run.summaries) {
    for (const auto& entry : summary.groups) slots.insert(entry.first);
  }
  for (const std::uint16_t slot : slots) {
    const GroupId id = pipeline.Group(slot).id;
    if (id.value == 0) continue;
    v1::GroupColumns& columns = *batch.add_groups();
    columns.set_group(id.value);
    for (const IterationSummary& summary : run.summaries) {
      const auto it = summary.groups.find(slot);
      const GroupSummary group = it == summary.groups.end() ? GroupSummary{} : it->second;
      columns.add_count(group.count);
      columns.add_elapsed_us(Micros(group.elapsed_ns));
      columns.add_min_us(Micros(group.shortest_ns));
      columns.add_max_us(Micros(group.longest_ns));
      columns.add_first_us(Micros(group.first_ns));
    }
  }
}

// Columns of zeros are left out: a job without a GPU, or without a DataLoader, pays for none.
void AddRareColumns(const ClosedIterations& run, v1::SummaryBatch& batch) {
  for (const IterationSummary& summary : run.summaries) {
    batch.add_device_wait_us(Micros(summary.device_wait_ns));
    batch.add_batch_elements(summary.batch_elements);
    batch.add_loader_starved_us(Micros(summary.loader_starved_ns));
  }
  const auto zeros = [](const auto& column) {
    return std::all_of(column.begin(), column.end(), [](auto value) { return value == 0; });
  };
  if (zeros(batch.device_wait_us())) batch.clear_device_wait_us();
  if (zeros(batch.batch_elements())) batch.clear_batch_elements();
  if (zeros(batch.loader_starved_us())) batch.clear_loader_starved_us();
  const bool issued = std::any_of(run.summaries.begin(), run.summaries.end(),
                                  [](const IterationSummary& each) { return each.issued.known(); });
  if (!issued) return;
  for (const IterationSummary& each : run.summaries) {
    for (const std::uint64_t count : each.issued.counts) {
      batch.add_issued(static_cast<std::uint32_t>(count));
    }
  }
}

// Of ops that ran beside computing, where any is known to.
void AddBesideColumns(const ClosedIterations& run, v1::SummaryBatch& batch) {
  const bool any = std::any_of(run.summaries.begin(), run.summaries.end(), [](const auto& each) {
    return each.unsure_ns > 0 || each.beside_ns > 0;
  });
  if (!any) return;
  for (const IterationSummary& each : run.summaries) {
    batch.add_unsure_us(Micros(each.unsure_ns));
    batch.add_beside_us(Micros(each.beside_ns));
    batch.add_leading_us(Micros(each.leading_ns));
  }
}

// The columns of flop_class.h's classes of which an operation was seen, and of void time.
void AddWorkColumns(const ClosedIterations& run, v1::SummaryBatch& batch) {
  for (std::size_t which = 0; which < kFlopClasses; ++which) {
    const bool seen = std::any_of(run.summaries.begin(), run.summaries.end(),
                                  [&](const auto& each) { return each.flop[which] > 0; });
    if (!seen) continue;
    v1::FlopColumn& column = *batch.add_flop();
    column.set_flop_class(static_cast<std::uint32_t>(which));
    for (const auto& each : run.summaries) column.add_flop(static_cast<float>(each.flop[which]));
  }
  const bool known = std::any_of(run.summaries.begin(), run.summaries.end(),
                                 [](const auto& each) { return each.void_time.known; });
  if (!known) return;
  for (const auto& each : run.summaries) {
    const bool here = each.void_time.known;  // what is known is not 0
    batch.add_void_between_us(here ? std::max(1U, Micros(each.void_time.between_ns)) : 0);
    batch.add_void_within_us(here ? Micros(each.void_time.within_ns) : 0);
  }
}

// Rows of ops that may tell why the rank stands still, oldest first. What a thread beside the
// training waits in does not, while the training waits itself (one that waits for orders is always
// inside) or while it goes on. Where the training is in no op, it may wait for such a thread.
std::vector<std::uint64_t> TellingRows(RankPipeline& pipeline, std::int64_t now_ns) {
  std::vector<std::uint64_t> rows = pipeline.joiner().OpenRows();
  const auto beside = [&](std::uint64_t number) {
    return pipeline.roles().IsBeside(pipeline.log().At(number).group_slot);
  };
  const bool in_op = !std::all_of(rows.begin(), rows.end(), beside);
  std::erase_if(rows, [&](std::uint64_t number) {
    const bool goes_on = now_ns - pipeline.log().At(number).enter_ns < kStuckNs;
    return beside(number) && (in_op || goes_on);
  });
  return rows;
}

// Message: v1::RankHealth or v1::RankGone.
template <typename Message>
void AddOpenOps(RankSession& session, std::int64_t now_ns, Message& health) {
  const RankPipeline& pipeline = session.pipeline();
  for (const std::uint64_t number : TellingRows(session.pipeline(), now_ns)) {
    if (health.open_ops_size() >= kMaxOpenOps) break;
    const OpRow& row = pipeline.log().At(number);
    v1::OpenOp& op = *health.add_open_ops();
    op.set_group(pipeline.Group(row.group_slot).id.value);
    op.set_sequence(row.sequence);
    op.set_kind(static_cast<std::uint32_t>(row.kind));
    op.set_data_type(static_cast<std::uint32_t>(row.data_type));
    op.set_bytes(row.bytes);
    pipeline.TellPeer(row, op);
    op.set_age_ns(now_ns - row.enter_ns);
    op.set_started(row.exec_start_ns != 0);
  }
}

const char* ActivityKindName(const ActivitySum& sum) {
  switch (sum.kind) {
    case abi::ActivityKind::kKernel:
      return "kernel";
    case abi::ActivityKind::kCopy:
      return "copy";
    case abi::ActivityKind::kMemset:
      return "memset";
    case abi::ActivityKind::kOverhead:
      return sum.of_driver ? "driver" : "cupti";
    default:
      return "sync";
  }
}

// What a mark says it is in now. Of functions only those that are long are told while they last.
void AddOpenMark(RankSession& session, std::int64_t now_ns, v1::RankHealth& health) {
  const auto& marks = session.pipeline().log().marks();
  const auto open = std::find_if(marks.rbegin(), marks.rend(),
                                 [](const MarkRow& mark) { return mark.end_ns == 0; });
  if (open == marks.rend()) return;
  const bool function = open->kind == abi::MarkKind::kFunctionBegin;
  health.set_open_mark(function ? session.FunctionName(open->function) : MarkName(open->kind));
  health.set_open_mark_age_ns(std::max<std::int64_t>(0, now_ns - open->begin_ns));
}

// A communicator that was made again counts anew; what it was before would hide who is behind now.
void AddProgress(RankSession& session, v1::RankHealth& health) {
  session.RefreshProgress();
  const RankPipeline& pipeline = session.pipeline();
  if (const auto newest = pipeline.newest_training_op()) {
    health.set_newest_group(pipeline.Group(newest->group_slot).id.value);
  }
  std::set<std::uint64_t> told;
  for (std::size_t slot = session.progress().size(); slot-- > 0;) {
    const GroupId id = session.pipeline().Group(static_cast<std::uint16_t>(slot)).id;
    if (id.value == 0 || !told.insert(id.value).second) continue;
    v1::GroupProgress& progress = *health.add_groups();
    progress.set_group(id.value);
    progress.set_entered(session.progress()[slot].entered);
    progress.set_started(session.progress()[slot].started);
    progress.set_completed(session.progress()[slot].completed);
  }
}

void AddProcess(const ProcessFacts& facts, v1::RankHealth& health) {
  health.set_state(std::string(1, facts.state));
  health.set_cpu_ns(facts.cpu_ns);
  health.set_runqueue_wait_ns(facts.runqueue_wait_ns);
  health.set_training_thread_cpu_ns(facts.training_thread_cpu_ns);
  health.set_voluntary_switches(facts.voluntary_switches);
  health.set_involuntary_switches(facts.involuntary_switches);
  health.set_major_faults(facts.major_faults);
  health.set_minor_faults(facts.minor_faults);
  health.set_cgroup_throttled_us(facts.cgroup_throttled_us);
  health.set_rss_bytes(facts.rss_bytes);
  health.set_wait_channel(facts.wait_channel);
  health.set_io_bytes(facts.io_bytes);
  health.set_frozen(facts.frozen);
}

bool SomethingFailedLast(const OpLog& log) {
  const std::uint64_t from = log.next() - std::min(kLastOps, log.next() - log.first());
  for (std::uint64_t number = from; number < log.next(); ++number) {
    if (log.At(number).failed()) return true;
  }
  return false;
}

std::string HowItEnded(const RankSession& session) {
  const int status = session.life().exit_code;
  if (session.unseen() && !session.control().exiting) return "unseen";
  if (status > 0 && (status & 0x7f) != 0) return "killed";
  return session.control().exiting || status >= 0 ? "exited" : "vanished";
}

}  // namespace

v1::Hello HelloOf(const std::string& node, const char* version, const KernelRoots& roots) {
  v1::Hello hello;
  hello.set_node(node);
  hello.set_version(version);
  const auto boot = ReadSmallFile(roots.proc + "/sys/kernel/random/boot_id");
  if (boot.ok()) hello.set_boot_id(boot->substr(0, boot->find('\n')));
  hello.set_protocol(1);
  hello.set_cores(std::thread::hardware_concurrency());
  return hello;
}

v1::RankInfo RankInfoOf(const RankSession& session) {
  const RegionIdentity& id = session.identity();
  v1::RankInfo info;
  info.set_job(id.job);
  info.set_rank(id.rank);
  info.set_world_size(id.world_size);
  info.set_local_rank(id.local_rank);
  info.set_pid(id.pid);
  info.set_start_time_ticks(id.start_time_ticks);
  info.set_restart_count(id.restart_count);
  info.set_sources(id.sources);
  info.set_tracer_version(id.tracer_version);
  info.set_started_wall_ns(id.created_wall_ns);
  info.set_user(session.owner());
  if (session.gpu()) {
    info.mutable_gpu()->set_number(session.gpu()->number);
    info.mutable_gpu()->set_bus_id(session.gpu()->bus_id);
    info.mutable_gpu()->set_uuid(session.gpu()->uuid);
  }
  return info;
}

v1::GroupInfo GroupInfoOf(const RankSession& session, std::uint16_t slot) {
  const GroupFacts& facts = session.groups()[slot];
  const GroupIdentity& identity = session.pipeline().Group(slot);
  v1::GroupInfo info;
  info.set_job(session.identity().job);
  info.set_rank(session.identity().rank);
  info.set_id(identity.id.value);
  info.set_name(facts.name);
  info.set_description(facts.description);
  info.set_size(facts.size);
  info.set_my_rank(facts.my_rank);
  info.mutable_members()->Assign(identity.members.begin(), identity.members.end());
  info.set_guessed(identity.guessed);
  return info;
}

v1::RankGone RankGoneOf(RankSession& session, std::int64_t now_ns, std::int64_t now_wall_ns) {
  v1::RankGone gone;
  gone.set_job(session.identity().job);
  gone.set_rank(session.identity().rank);
  gone.set_pid(session.identity().pid);
  gone.set_how(HowItEnded(session));
  gone.set_noticed_wall_ns(now_wall_ns);
  gone.set_orderly(session.control().exiting);
  gone.set_wait_status(session.life().exit_code + 1);
  AddOpenOps(session, now_ns, gone);
  gone.set_oom_kills(session.OomKills());
  gone.set_communication_failed(SomethingFailedLast(session.pipeline().log()));
  return gone;
}

v1::SummaryBatch SummaryBatchOf(const RankSession& session, const ClosedIterations& run,
                                std::int64_t mono_to_wall_ns) {
  v1::SummaryBatch batch;
  const IterationSpan& first = run.summaries.front().span;
  batch.set_job(session.identity().job);
  batch.set_rank(session.identity().rank);
  batch.set_first_iteration(first.number);
  batch.set_anchor_group(run.anchor_group.value);
  batch.set_first_anchor_sequence(first.anchor_sequence);
  batch.set_first_begin_mono_ns(first.begin_ns);
  batch.set_mono_to_wall_ns(mono_to_wall_ns);
  batch.set_period_relearned(run.relearned);
  for (std::size_t i = 0; i < run.summaries.size(); ++i) {
    const IterationSummary& summary = run.summaries[i];
    const bool last = i + 1 == run.summaries.size();
    batch.add_anchor_step(
        last ? 0
             : static_cast<std::int64_t>(run.summaries[i + 1].span.anchor_sequence -
                                         summary.span.anchor_sequence));
    batch.add_duration_us(Micros(summary.span.end_ns - summary.span.begin_ns));
    batch.add_cpu_us(Micros(summary.cpu_ns));
    batch.add_runqueue_us(Micros(summary.runqueue_ns));
    batch.add_blocked_us(Micros(summary.blocked_ns));
    batch.add_gc_us(Micros(summary.gc_ns));
    batch.add_dataloader_us(Micros(summary.dataloader_ns));
    batch.add_op_count(summary.ops);
  }
  AddGroups(session.pipeline(), run, batch);
  AddRareColumns(run, batch);
  AddBesideColumns(run, batch);
  AddWorkColumns(run, batch);
  return batch;
}

v1::RankHealth RankHealthOf(RankSession& session, const ProcessFacts& facts, std::int64_t now_ns,
                            bool beside_silent) {
  v1::RankHealth health;
  health.set_job(session.identity().job);
  health.set_rank(session.identity().rank);
  health.set_sampled_mono_ns(now_ns);
  AddProcess(facts, health);
  session.Note(facts);
  health.set_oom_kills(session.OomKills());
  const std::int64_t age = std::max<std::int64_t>(0, now_ns - session.last_event_ns());
  const std::int64_t typical = session.pipeline().typical_iteration_ns();
  health.set_last_event_age_ns(age);
  health.set_records_total(session.ring().total);
  health.set_records_lost(session.ring().lost);
  health.set_records_torn(session.ring().torn);
  health.set_records_invalid(session.ring().invalid + session.ring().unknown_kind);
  for (std::size_t i = 0; i < abi::kDropReasons; ++i) {
    const std::uint64_t count = session.control().drops[i];
    if (count > 0) (*health.mutable_tracer_drops())[std::string(DropReasonName(i))] += count;
  }
  health.set_typical_iteration_ns(typical);
  health.set_iterations_seen(session.pipeline().iterations_closed());
  const std::uint32_t windows =
      session.window().ever_closed() ? std::uint32_t{abi::kSourceCupti} : 0;
  const std::uint32_t unhooked = session.OnlyThePluginTells() ? std::uint32_t{abi::kSourceNccl} : 0;
  health.set_sources_seen((session.pipeline().sources_seen() & ~unhooked) | windows);
  health.set_window_refused(session.window().last_refusal());
  health.set_sources_off(session.control().sources_disabled);
  health.set_plugin_mask(session.control().plugin_mask);
  health.set_recent_pause_ns(session.pipeline().rhythm().Recent());
  health.set_longest_pause_ns(session.pipeline().rhythm().History());
  const bool silent = session.Silent(now_ns);
  if (silent || beside_silent) AddProgress(session, health);
  if (silent) {
    AddOpenOps(session, now_ns, health);
    AddOpenMark(session, now_ns, health);
  }
  return health;
}

void AddDescendants(const DescendantUse& use, v1::RankHealth& health) {
  health.mutable_descendants()->set_cpu_ns(use.cpu_ns);
  health.mutable_descendants()->set_io_bytes(use.io_bytes);
  health.mutable_descendants()->set_processes(use.processes);
}

v1::RankWindow RankWindowOf(const RankSession& session, const WindowOutcome& outcome) {
  v1::RankWindow window;
  window.set_rank(session.identity().rank);
  window.set_state(outcome.closed ? "closed" : "refused");
  window.set_reason(outcome.reason);
  window.set_opened_sequence(outcome.state.opened_sequence);
  window.set_closed_sequence(outcome.state.closed_sequence);
  window.set_opened_ns(outcome.state.opened_ns);
  window.set_closed_ns(outcome.state.closed_ns);
  window.set_records(outcome.state.records);
  window.set_lost(outcome.lost);
  window.set_busy_ns(outcome.sums.busy_ns);
  window.set_clock_residual_ns(outcome.clock_residual_ns);
  for (const ActivitySum& sum : outcome.sums.sums) {
    v1::ActivitySum& out = *window.add_sums();
    out.set_kind(ActivityKindName(sum));
    out.set_name(sum.name);
    out.set_count(sum.count);
    out.set_total_ns(sum.total_ns);
    out.set_longest_ns(sum.longest_ns);
    out.set_bytes(sum.bytes);
  }
  return window;
}

v1::StackSample StackSampleOf(const StackView& seen) {
  v1::StackSample stack;
  const StackReading& newest = seen.newest;
  stack.mutable_frames()->Assign(newest.frames.begin(), newest.frames.end());
  stack.set_samples(seen.samples);
  stack.set_functions(seen.functions);
  stack.set_error(seen.error);
  stack.set_source(newest.source);
  stack.set_pause_us(MicrosUp(newest.pause));
  stack.set_longest_pause_us(MicrosUp(seen.longest_pause));
  stack.set_given_up(seen.given_up);
  return stack;
}

v1::NodeHealth NodeHealthOf(const NodeFacts& facts, const std::string& node,
                            std::int64_t now_wall_ns) {
  v1::NodeHealth health;
  health.set_node(node);
  health.set_sampled_wall_ns(now_wall_ns);
  health.set_cpu_busy_ratio(facts.cpu_busy_ratio);
  health.set_load1(facts.load1);
  health.set_cores(facts.cores);
  health.set_pressure_cpu_some_ratio(facts.pressure_cpu);
  health.set_pressure_memory_some_ratio(facts.pressure_memory);
  health.set_pressure_io_some_ratio(facts.pressure_io);
  health.set_memory_available_bytes(facts.memory_available_bytes);
  return health;
}

}  // namespace fathom::agent
