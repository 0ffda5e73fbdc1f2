// The account of a job as the report carries it.
#include "collector/export/ledger_proto.h"

#include <gtest/gtest.h>

#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

TEST(LedgerProtoTest, AnAccountOfNothingSaysWhatItComparesWith) {
  v1::Ledger out;
  ToProto(diagnosis::Account(), out);
  EXPECT_EQ(out.shares_size(), 0);
  EXPECT_EQ(out.iterations(), 0);
  ASSERT_EQ(out.reference_size(), 1);
  EXPECT_EQ(out.reference(0), "peers");
}

TEST(LedgerProtoTest, SumsAndSharesGoOutInTheirOrder) {
  diagnosis::Account account{40, 4.5, 4.25, 36, 30, 6, 1.5, {}};
  auto& slow = account.shares.emplace_back();
  slow.entity.ranks = {RankId(3)};
  slow.entity.node = "n1";
  slow.cause = diagnosis::Cause::kDataLoader;
  slow.owner = diagnosis::Owner::kInfrastructure;
  slow.lost_gpu_s = 4.5;
  slow.gain_s_per_iteration = 0.125;
  slow.alone_s_per_iteration = 0.25;
  slow.since = Iteration(0);
  slow.until = Iteration(39);
  slow.every = 8;
  auto& always = account.shares.emplace_back();
  always.entity.type = diagnosis::EntityType::kGroup;
  always.hidden = true;
  always.from_start = true;
  always.since = Iteration(7);
  v1::Ledger out;
  ToProto(account, out);
  EXPECT_EQ(out.iterations(), 40);
  EXPECT_EQ(out.measured_s(), 4.5);
  EXPECT_EQ(out.replayed_s(), 4.25);
  EXPECT_EQ(out.used_gpu_s() - out.ideal_gpu_s(), out.lost_gpu_s());
  EXPECT_EQ(out.unexplained_gpu_s(), 1.5);
  ASSERT_EQ(out.shares_size(), 2);
  const v1::Ledger::Share& first = out.shares(0);
  EXPECT_EQ(first.entity().node(), "n1");
  EXPECT_EQ(first.entity().ranks(0), 3u);
  EXPECT_EQ(first.cause(), "dataloader");
  EXPECT_EQ(first.owner(), "infrastructure");
  EXPECT_EQ(first.lost_gpu_s(), 4.5);
  EXPECT_EQ(first.gain_s_per_iteration(), 0.125);
  EXPECT_EQ(first.alone_s_per_iteration(), 0.25);
  EXPECT_TRUE(first.since().has_iteration()) << "iteration 0 is one";
  EXPECT_EQ(first.until(), 39);
  EXPECT_EQ(first.every(), 8);
  EXPECT_FALSE(first.hidden());
  const v1::Ledger::Share& second = out.shares(1);
  EXPECT_EQ(second.entity().type(), "group");
  EXPECT_TRUE(second.hidden());
  EXPECT_TRUE(second.has_since());
  EXPECT_FALSE(second.since().has_iteration()) << "it was so from the start";
  EXPECT_EQ(second.until(), -1);
}

}  // namespace
}  // namespace fathom::collector
