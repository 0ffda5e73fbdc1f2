#include "collector/ingest/validate.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "collector/limits.h"
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
      {"op_count", [](auto& b) { b.clear_op_count(); }, kColumnLengths},
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

TEST(Validate, HealthIsFiniteAndNotNegative) {
  auto health = HealthOf(0);
  health.set_last_event_age_ns(-1);
  EXPECT_EQ(Validate(Message(2, health)), kBadNumber);
  health = HealthOf(0);
  for (int i = 0; i <= kMaxOpenOps; ++i) health.add_open_ops();
  EXPECT_EQ(Validate(Message(2, health)), kTooManyGroups);
  v1::AgentMessage message;
  message.mutable_health()->mutable_node()->set_load1(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(Validate(message), kBadNumber);
}

}  // namespace
}  // namespace fathom::collector
