#include "tests/collector/messages.h"

#include "tests/collector/fake_clock.h"

namespace fathom::collector {

v1::AgentMessage HelloFrom(const std::string& node, std::uint32_t protocol) {
  v1::AgentMessage message;
  message.set_number(1);
  message.mutable_hello()->set_node(node);
  message.mutable_hello()->set_version("test");
  message.mutable_hello()->set_boot_id("boot");
  message.mutable_hello()->set_protocol(protocol);
  return message;
}

v1::RankInfo RankOf(std::uint32_t rank, std::uint32_t world, const std::string& job) {
  v1::RankInfo info;
  info.set_job(job);
  info.set_rank(rank);
  info.set_world_size(world);
  info.set_local_rank(rank);
  info.set_pid(1000 + rank);
  info.set_start_time_ticks(77);
  info.set_sources(3);
  info.set_started_wall_ns(FakeClock::kStart - 1'000'000'000);
  return info;
}

v1::GroupInfo GroupOf(std::uint32_t rank, std::uint32_t world, const std::string& job) {
  v1::GroupInfo group;
  group.set_job(job);
  group.set_rank(rank);
  group.set_id(kWorldGroup);
  group.set_name("0");
  group.set_description("default_pg");
  group.set_size(world);
  group.set_my_rank(rank);
  for (std::uint32_t r = 0; r < world; ++r) group.add_members(r);
  return group;
}

v1::SummaryBatch Batch(const BatchShape& shape) {
  v1::SummaryBatch batch;
  batch.set_job(shape.job);
  batch.set_rank(shape.rank);
  batch.set_first_iteration(shape.first);
  batch.set_anchor_group(shape.group);
  batch.set_first_anchor_sequence(shape.anchor);
  batch.set_first_begin_mono_ns(shape.begin_mono_ns + shape.first * 1000 * shape.duration_us);
  batch.set_mono_to_wall_ns(FakeClock::kStart - 60'000'000'000);
  auto& group = *batch.add_groups();
  group.set_group(shape.group);
  for (int i = 0; i < shape.count; ++i) {
    batch.add_anchor_step(shape.step);
    batch.add_duration_us(shape.duration_us);
    batch.add_cpu_us(shape.duration_us / 2);
    batch.add_runqueue_us(10);
    batch.add_blocked_us(shape.elapsed_us);
    batch.add_gc_us(0);
    batch.add_dataloader_us(30);
    batch.add_op_count(static_cast<std::uint32_t>(shape.step));
    group.add_count(static_cast<std::uint32_t>(shape.step));
    group.add_elapsed_us(shape.elapsed_us);
    group.add_min_us(10);
    group.add_max_us(shape.elapsed_us);
    group.add_first_us(shape.elapsed_us);
  }
  return batch;
}

v1::RankHealth HealthOf(std::uint32_t rank, const std::string& state, std::int64_t silent_ns,
                        const std::string& job) {
  v1::RankHealth health;
  health.set_job(job);
  health.set_rank(rank);
  health.set_state(state);
  health.set_last_event_age_ns(silent_ns);
  health.set_records_total(1000);
  health.set_typical_iteration_ns(100'000'000);
  health.set_iterations_seen(100);
  return health;
}

v1::AgentMessage Message(std::uint64_t number, const v1::RankInfo& body) {
  v1::AgentMessage message;
  message.set_number(number);
  *message.mutable_rank() = body;
  return message;
}

v1::AgentMessage Message(std::uint64_t number, const v1::GroupInfo& body) {
  v1::AgentMessage message;
  message.set_number(number);
  *message.mutable_group() = body;
  return message;
}

v1::AgentMessage Message(std::uint64_t number, const v1::SummaryBatch& body) {
  v1::AgentMessage message;
  message.set_number(number);
  *message.mutable_summary() = body;
  return message;
}

v1::AgentMessage Message(std::uint64_t number, const v1::RankHealth& body) {
  v1::AgentMessage message;
  message.set_number(number);
  *message.mutable_health()->add_ranks() = body;
  return message;
}

v1::AgentMessage Message(std::uint64_t number, const v1::RankGone& body) {
  v1::AgentMessage message;
  message.set_number(number);
  *message.mutable_gone() = body;
  return message;
}

v1::AgentMessage Message(std::uint64_t number, const v1::RowsReply& body) {
  v1::AgentMessage message;
  message.set_number(number);
  *message.mutable_rows() = body;
  return message;
}

}  // namespace fathom::collector
