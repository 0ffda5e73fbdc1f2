#include "collector/fleet/agent_messages.h"

#include <algorithm>

#include "collector/simulate/play/layout.h"

namespace fathom::simulate {
namespace {

// abi::SourceBit: NCCL by its API and its plugin, Python.
constexpr std::uint32_t kHooks = 2 | 4;
constexpr std::uint32_t kSeen = kHooks | 16;
constexpr std::int64_t kNsPerTick = 10'000'000;

// No real node should be called so.
std::string FleetNodeName(std::uint32_t node) { return "sim-" + NodeName(node); }

std::uint32_t Us(Nanos time) { return static_cast<std::uint32_t>((time.count + 500) / 1000); }

std::string StateLetter(diagnosis::ProcessState state) {
  return state == diagnosis::ProcessState::kSleeping ? "S" : "R";
}

void AddValues(const diagnosis::GroupIteration& group, v1::GroupColumns& columns) {
  columns.add_count(group.count);
  columns.add_elapsed_us(Us(group.elapsed));
  columns.add_min_us(Us(group.shortest));
  columns.add_max_us(Us(group.longest));
  columns.add_first_us(Us(group.first));
}

void AddValues(const diagnosis::RankIteration& rank, v1::SummaryBatch& batch) {
  batch.add_duration_us(Us(rank.duration));
  batch.add_cpu_us(Us(rank.cpu));
  batch.add_runqueue_us(Us(rank.runqueue));
  batch.add_blocked_us(Us(rank.blocked));
  batch.add_gc_us(Us(rank.gc));
  batch.add_dataloader_us(Us(rank.dataloader));
  if (rank.batch_elements > 0) batch.add_batch_elements(rank.batch_elements);
  batch.add_op_count(rank.ops);
}

void AddOpenOp(const diagnosis::OpenOp& from, v1::RankHealth& health) {
  v1::OpenOp& op = *health.add_open_ops();
  op.set_group(from.group.value);
  op.set_sequence(from.sequence.value);
  op.set_kind(static_cast<std::uint32_t>(from.kind));
  op.set_bytes(from.bytes);
  op.set_peer(from.peer.value);
  op.set_age_ns(from.age.count);
  op.set_started(from.started);
  op.set_data_type(static_cast<std::uint32_t>(from.data_type));
}

}  // namespace

std::vector<std::string> FleetNodes(const Scenario& scenario) {
  std::vector<std::string> names;
  const std::uint32_t nodes = Layout(scenario).nodes();
  for (std::uint32_t node = 0; node < nodes; ++node) names.push_back(FleetNodeName(node));
  return names;
}

v1::RankInfo ToRankInfo(const std::string& job, const diagnosis::RankFacts& facts,
                        std::uint32_t local, std::uint32_t world, WallNs started) {
  v1::RankInfo info;
  info.set_job(job);
  info.set_rank(facts.rank.value);
  info.set_world_size(world);
  info.set_local_rank(local);
  info.set_pid(facts.pid);
  // Another play of the same job is of other processes.
  info.set_start_time_ticks(static_cast<std::uint64_t>(started.ns / kNsPerTick));
  info.set_sources(kHooks);
  info.set_tracer_version("simulated");
  info.set_started_wall_ns(started.ns);
  return info;
}

v1::GroupInfo ToGroupInfo(const std::string& job, const diagnosis::Group& group,
                          std::size_t place) {
  v1::GroupInfo info;
  info.set_job(job);
  info.set_rank(group.members[place].value);
  info.set_id(group.id.value);
  info.set_name(group.name);
  info.set_description(group.description);
  info.set_size(group.size);
  info.set_my_rank(static_cast<std::uint32_t>(place));
  if (place != 0) return info;
  for (RankId member : group.members) info.add_members(member.value);
  return info;
}

v1::SummaryBatch ToBatch(const std::string& job, const diagnosis::IterationSummary& iteration,
                         const diagnosis::RankIteration& rank, Nanos wall_shift) {
  v1::SummaryBatch batch;
  const diagnosis::GroupIteration& anchor = rank.groups.back();
  batch.set_job(job);
  batch.set_rank(rank.rank.value);
  batch.set_first_iteration(iteration.index.value);
  batch.set_anchor_group(anchor.group.value);
  batch.set_first_anchor_sequence(static_cast<std::uint64_t>(iteration.index.value + 1) *
                                  anchor.count);
  batch.add_anchor_step(anchor.count);
  batch.set_first_begin_mono_ns(rank.begin.ns);
  batch.set_mono_to_wall_ns(iteration.begin.ns - rank.begin.ns + wall_shift.count);
  AddValues(rank, batch);
  for (const diagnosis::GroupIteration& group : rank.groups) {
    v1::GroupColumns& columns = *batch.add_groups();
    columns.set_group(group.group.value);
    AddValues(group, columns);
  }
  return batch;
}

bool AddIteration(const diagnosis::RankIteration& rank, v1::SummaryBatch& batch) {
  const bool alike =
      std::equal(rank.groups.begin(), rank.groups.end(), batch.groups().begin(),
                 batch.groups().end(),
                 [](const auto& a, const auto& b) { return a.group.value == b.group(); }) &&
      batch.anchor_step(0) == rank.groups.back().count &&
      (batch.batch_elements_size() > 0) == (rank.batch_elements > 0);
  if (!alike) return false;
  batch.add_anchor_step(rank.groups.back().count);
  AddValues(rank, batch);
  for (int g = 0; g < batch.groups_size(); ++g) {
    AddValues(rank.groups[static_cast<std::size_t>(g)], *batch.mutable_groups(g));
  }
  return true;
}

v1::RankHealth ToHealth(const std::string& job, const diagnosis::RankFacts& facts, Nanos cpu) {
  v1::RankHealth health;
  health.set_job(job);
  health.set_rank(facts.rank.value);
  health.set_state(StateLetter(facts.state));
  health.set_cpu_ns(static_cast<std::uint64_t>((cpu + facts.cpu_while_silent).count));
  health.set_last_event_age_ns(facts.silent_for.count);
  health.set_typical_iteration_ns(facts.typical_iteration.count);
  health.set_iterations_seen(facts.iterations_seen);
  health.set_sources_seen(kSeen);
  for (const diagnosis::OpenOp& op : facts.open_ops) AddOpenOp(op, health);
  for (const diagnosis::GroupProgress& group : facts.groups) {
    v1::GroupProgress& progress = *health.add_groups();
    progress.set_group(group.group.value);
    progress.set_entered(group.entered);
    progress.set_started(group.started);
    progress.set_completed(group.completed);
  }
  return health;
}

void AddOp(const diagnosis::CommOp& from, v1::RankRows& rows) {
  v1::CommOp& op = *rows.add_ops();
  op.set_op_id(static_cast<std::uint64_t>(rows.ops_size()));
  op.set_group(from.group.value);
  op.set_sequence(from.sequence.value);
  op.set_kind(static_cast<std::uint32_t>(from.kind));
  op.set_data_type(static_cast<std::uint32_t>(from.data_type));
  op.set_bytes(from.bytes);
  op.set_peer(from.peer.value);
  op.set_thread_id(from.thread);
  op.set_enter_ns(from.enter.ns);
  op.set_return_ns(from.api_return.ns);
  op.set_exec_start_ns(from.exec_start.ns);
  op.set_end_ns(from.end.ns);
  op.set_wait_start_ns(from.wait_start.ns);
  op.set_wait_end_ns(from.wait_end.ns);
  op.set_cpu_at_enter_ns(from.cpu_at_enter.count);
  op.set_iteration(from.iteration.value);
}

void AddMark(const diagnosis::Mark& from, v1::RankRows& rows) {
  v1::Mark& mark = *rows.add_marks();
  mark.set_kind(from.kind == diagnosis::MarkKind::kGc ? "gc" : "dataloader");
  mark.set_begin_ns(from.begin.ns);
  mark.set_end_ns(from.end.ns);
  mark.set_thread_id(from.thread);
  mark.set_iteration(from.iteration.value);
}

}  // namespace fathom::simulate
