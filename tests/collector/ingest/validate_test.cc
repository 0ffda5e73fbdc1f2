#include "collector/ingest/validate.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "collector/admission/limits.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

using enum RejectReason;

TEST(Validate, TakesWhatAgentsSend) {
  EXPECT_FALSE(Validate(HelloFrom("n0")));
  EXPECT_FALSE(Validate(Message(2, RankOf(3, 4))));
  EXPECT_FALSE(Validate(Message(2, GroupOf(3, 4))));
  EXPECT_FALSE(Validate(Message(2, Batch({}))));
  EXPECT_FALSE(Validate(Message(2, HealthOf(3))));
  EXPECT_FALSE(Validate(v1::AgentMessage())) << "a body of a later version";
}

TEST(Validate, AGpuHasTheShapeOfOne) {
  const auto of = [](std::uint32_t number, const char* bus_id, const char* uuid) {
    v1::RankInfo info = RankOf(3, 4);
    info.mutable_gpu()->set_number(number);
    info.mutable_gpu()->set_bus_id(bus_id);
    info.mutable_gpu()->set_uuid(uuid);
    return Validate(Message(2, info));
  };
  EXPECT_FALSE(of(0, "", ""));
  EXPECT_FALSE(of(7, "0000:1B:00.0", "GPU-5a3f2c1e-0d4b-6a7c-8e9f-001122334455"));
  EXPECT_FALSE(of(7, "00010000:1b:00.0", "")) << "as NVML writes it";
  EXPECT_EQ(of(1 << 20, "", ""), kBadNumber);
  for (const char* bus_id : {"0000:1B:00", "0000:1B:00.0;id", "$(id)", "0000:1B:00.0\n"}) {
    EXPECT_EQ(of(0, bus_id, ""), kBadString) << bus_id;
  }
  for (const char* uuid : {"GPU-", "MIG-5a3f2c1e-0d4b-6a7c-8e9f-001122334455", "<script>"}) {
    EXPECT_EQ(of(0, "", uuid), kBadString) << uuid;
  }
}

struct BadSummary {
  const char* what;
  std::function<void(v1::SummaryBatch&)> spoil;
  RejectReason reason;
};

TEST(Validate, EveryColumnOfASummaryIsChecked) {
  const BadSummary cases[] = {
      {"no iterations", [](auto& b) { b.clear_duration_us(); }, kColumnLengths},
      {"anchor_step", [](auto& b) { b.add_anchor_step(1); }, kColumnLengths},
      {"cpu", [](auto& b) { b.add_cpu_us(1); }, kColumnLengths},
      {"runqueue", [](auto& b) { b.clear_runqueue_us(); }, kColumnLengths},
      {"blocked", [](auto& b) { b.add_blocked_us(1); }, kColumnLengths},
      {"gc", [](auto& b) { b.clear_gc_us(); }, kColumnLengths},
      {"dataloader", [](auto& b) { b.clear_dataloader_us(); }, kColumnLengths},
      {"device wait", [](auto& b) { b.add_device_wait_us(1), b.add_device_wait_us(1); },
       kColumnLengths},
      {"batch elements", [](auto& b) { b.add_batch_elements(1), b.add_batch_elements(1); },
       kColumnLengths},
      {"op_count", [](auto& b) { b.clear_op_count(); }, kColumnLengths},
      {"issued",
       [](auto& b) {
         for (int i = 0; i < b.duration_us_size(); ++i) b.add_issued(1);
       },
       kColumnLengths},
      {"void between", [](auto& b) { b.add_void_between_us(1); }, kColumnLengths},
      {"void within", [](auto& b) { b.add_void_within_us(1); }, kColumnLengths},
      {"unsure", [](auto& b) { b.add_unsure_us(1); }, kColumnLengths},
      {"beside", [](auto& b) { b.add_beside_us(1); }, kColumnLengths},
      {"leading", [](auto& b) { b.add_leading_us(1); }, kColumnLengths},
      {"operations",
       [](auto& b) {
         auto* column = b.add_flop();
         for (int i = 0; i <= b.duration_us_size(); ++i) column->add_flop(1);
       },
       kColumnLengths},
      {"many classes of operations",
       [](auto& b) {
         for (int which = 0; which < 17; ++which) {
           for (int i = 0; i < b.duration_us_size(); ++i) {
             (i == 0 ? b.add_flop() : b.mutable_flop(which))->add_flop(1);
           }
         }
       },
       kColumnLengths},
      {"group count", [](auto& b) { b.mutable_groups(0)->clear_count(); }, kColumnLengths},
      {"group elapsed", [](auto& b) { b.mutable_groups(0)->add_elapsed_us(1); }, kColumnLengths},
      {"group min", [](auto& b) { b.mutable_groups(0)->clear_min_us(); }, kColumnLengths},
      {"group max", [](auto& b) { b.mutable_groups(0)->clear_max_us(); }, kColumnLengths},
      {"group first", [](auto& b) { b.mutable_groups(0)->clear_first_us(); }, kColumnLengths},
      {"group id", [](auto& b) { b.mutable_groups(0)->set_group(0); }, kBadNumber},
      {"rank", [](auto& b) { b.set_rank(kMaxWorldSize); }, kBadRank},
      {"no job", [](auto& b) { b.clear_job(); }, kBadString},
      {"long job", [](auto& b) { b.set_job(std::string(10'000, 'x')); }, kBadString},
      {"newline in job", [](auto& b) { b.set_job("a\nb"); }, kBadString},
      {"negative iteration", [](auto& b) { b.set_first_iteration(-1); }, kBadNumber},
      {"far iteration",
       [](auto& b) { b.set_first_iteration(std::numeric_limits<std::int64_t>::max()); },
       kBadNumber},
      {"negative begin", [](auto& b) { b.set_first_begin_mono_ns(-5); }, kBadNumber},
      {"far wall", [](auto& b) { b.set_mono_to_wall_ns(std::numeric_limits<std::int64_t>::min()); },
       kBadNumber},
      {"wild step", [](auto& b) { b.set_anchor_step(0, 1ll << 60); }, kBadNumber},
  };
  for (const auto& one : cases) {
    auto batch = Batch({});
    one.spoil(batch);
    EXPECT_EQ(Validate(Message(2, batch)), one.reason) << one.what;
  }
}

TEST(Validate, ABatchIsBounded) {
  BatchShape shape;
  shape.count = kMaxIterationsPerBatch;
  EXPECT_FALSE(Validate(Message(2, Batch(shape))));
  ++shape.count;
  EXPECT_EQ(Validate(Message(2, Batch(shape))), kTooManyIterations);
  auto batch = Batch({});
  while (batch.groups_size() <= kMaxGroupsPerBatch) *batch.add_groups() = batch.groups(0);
  EXPECT_EQ(Validate(Message(2, batch)), kTooManyGroups);
}

TEST(Validate, RanksLieInTheirWorld) {
  auto info = RankOf(3, 4);
  info.set_rank(4);
  EXPECT_EQ(Validate(Message(2, info)), kBadRank);
  info.set_world_size(0);
  EXPECT_EQ(Validate(Message(2, info)), kBadWorldSize);
  info.set_world_size(kMaxWorldSize + 1);
  EXPECT_EQ(Validate(Message(2, info)), kBadWorldSize);
}

TEST(Validate, GroupsNameTheirMembersOrNobody) {
  auto group = GroupOf(0, 4);
  group.clear_members();
  EXPECT_FALSE(Validate(Message(2, group)));
  group.add_members(0);
  EXPECT_EQ(Validate(Message(2, group)), kTooManyMembers);
  group = GroupOf(0, 4);
  group.set_members(2, kMaxWorldSize);
  EXPECT_EQ(Validate(Message(2, group)), kBadRank);
  group = GroupOf(0, 4);
  group.set_id(0);
  EXPECT_EQ(Validate(Message(2, group)), kBadNumber);
}

struct BadNumber {
  const char* what;
  std::function<void(v1::CommOp&, v1::Mark&)> spoil;
};

// What is worked out from two numbers of a peer must not overflow.
TEST(Validate, NumbersOfARowAreOnesToReckonWith) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const BadNumber cases[] = {
      {"enter", [](auto& op, auto&) { op.set_enter_ns(kLeast); }},
      {"return", [](auto& op, auto&) { op.set_return_ns(kMost); }},
      {"start", [](auto& op, auto&) { op.set_exec_start_ns(kMost); }},
      {"end", [](auto& op, auto&) { op.set_end_ns(kMost); }},
      {"wait start", [](auto& op, auto&) { op.set_wait_start_ns(kLeast); }},
      {"wait end", [](auto& op, auto&) { op.set_wait_end_ns(kMost); }},
      {"cpu", [](auto& op, auto&) { op.set_cpu_at_enter_ns(kLeast); }},
      {"run queue", [](auto& op, auto&) { op.set_runqueue_at_enter_ns(kMost); }},
      {"launches", [](auto& op, auto&) { op.set_launch_ns(kMost); }},
      {"wait for the GPU", [](auto& op, auto&) { op.set_gpu_wait_ns(kMost); }},
      {"iteration", [](auto& op, auto&) { op.set_iteration(kMost); }},
      {"mark's begin", [](auto&, auto& mark) { mark.set_begin_ns(kLeast); }},
      {"mark's end", [](auto&, auto& mark) { mark.set_end_ns(kMost); }},
      {"mark's iteration", [](auto&, auto& mark) { mark.set_iteration(kMost); }},
  };
  for (const auto& one : cases) {
    v1::AgentMessage message;
    v1::RowsReply& reply = *message.mutable_rows();
    reply.set_request_id(1);
    reply.set_job("job");
    v1::RankRows& rank = *reply.add_ranks();
    rank.add_ops()->set_iteration(-1);
    rank.add_marks();
    EXPECT_FALSE(Validate(message));
    one.spoil(*rank.mutable_ops(0), *rank.mutable_marks(0));
    EXPECT_EQ(Validate(message), kBadNumber) << one.what;
  }
}

TEST(Validate, NumbersOfHealthAreOnesToReckonWith) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::function<void(v1::RankHealth&)> spoilt[] = {
      [](auto& h) { h.set_last_event_age_ns(kMost); },
      [](auto& h) { h.set_typical_iteration_ns(kMost); },
      [](auto& h) { h.set_iterations_seen(kMost); },
      [](auto& h) { h.set_cpu_ns(~std::uint64_t{0}); },
      [](auto& h) { h.set_runqueue_wait_ns(std::uint64_t{1} << 63); },
      [](auto& h) { h.set_training_thread_cpu_ns(~std::uint64_t{0}); },
      [](auto& h) { h.add_open_ops()->set_age_ns(-kMost); },
      [](auto& h) { h.add_sockets()->set_since_received_ns(kMost); },
      [](auto& h) { h.add_transfers()->set_still_ns(-kMost); },
  };
  for (const auto& spoil : spoilt) {
    auto health = HealthOf(0);
    EXPECT_FALSE(Validate(Message(2, health)));
    spoil(health);
    EXPECT_EQ(Validate(Message(2, health)), kBadNumber) << health.ShortDebugString();
  }
}

TEST(Validate, HealthIsFiniteAndNotNegative) {
  auto health = HealthOf(0);
  health.set_last_event_age_ns(-1);
  EXPECT_EQ(Validate(Message(2, health)), kBadNumber);
  health = HealthOf(0);
  for (int i = 0; i <= kMaxOpenOps; ++i) health.add_open_ops();
  EXPECT_EQ(Validate(Message(2, health)), kTooManyGroups);
  health = HealthOf(0);
  for (int i = 0; i <= kMaxTransfers; ++i) health.add_transfers();
  EXPECT_EQ(Validate(Message(2, health)), kTooManyGroups);
  v1::AgentMessage message;
  message.mutable_health()->mutable_node()->set_load1(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(Validate(message), kBadNumber);
}

}  // namespace
}  // namespace fathom::collector
