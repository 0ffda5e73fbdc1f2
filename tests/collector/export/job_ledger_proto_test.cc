// The account of a whole job: as the API tells it, and as the store keeps it over a restart.
#include "collector/export/job_ledger_proto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <vector>

#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

using diagnosis::Cause;
using diagnosis::Loss;
using diagnosis::Owner;
using diagnosis::RunningAccount;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Loss LossOf(std::uint32_t rank, Cause cause, double gpu_s) {
  Loss loss;
  loss.entity.ranks = {RankId(rank)};
  loss.number = rank;
  loss.cause = cause;
  loss.gpu_s = gpu_s;
  return loss;
}

// Of three ranks and six iterations in three slices; rank 5 lost most and was seen last.
RunningAccount::State ThreeLosses() {
  RunningAccount::State state;
  state.iterations = 6;
  state.used_gpu_s = 60;
  state.unexplained_gpu_s = 0.5;
  state.slice_iterations = 2;
  state.losses = {LossOf(1, Cause::kGc, 2), LossOf(3, Cause::kGc, 4),
                  LossOf(5, Cause::kMismatch, 8)};
  state.losses[1].rest = true;
  state.losses[2].owner = Owner::kAlgorithm;
  state.by_cause = {{{Cause::kGc, Owner::kOperations}, 6},
                    {{Cause::kMismatch, Owner::kAlgorithm}, 8}};
  state.slices = {{WallNs(100), Iteration(0), 2, 20, 0.25, {2}},
                  {WallNs(200), Iteration(2), 2, 20, 0.25, {0, 4}},
                  {WallNs(300), Iteration(4), 2, 20, 0, {0, 0, 8}}};
  return state;
}

KeptAccount Kept() { return {ThreeLosses(), WallNs(50), WallNs(310), "v0123456789ab", -1}; }

std::vector<double> LostIn(const v1::JobLedger::Slice& slice) {
  return {slice.lost_gpu_s().begin(), slice.lost_gpu_s().end()};
}

TEST(JobLedgerProtoTest, TheLargestShareComesFirstAndSlicesCountByShare) {
  v1::JobLedger out;
  ToProto(ThreeLosses(), out);
  EXPECT_EQ(out.iterations(), 6);
  EXPECT_EQ(out.lost_gpu_s(), 14.5) << "what all causes cost, and what is unexplained";
  EXPECT_EQ(out.ideal_gpu_s(), 60 - 14.5);
  ASSERT_EQ(out.shares_size(), 3);
  EXPECT_EQ(out.shares(0).number(), 5u);
  EXPECT_EQ(out.shares(0).cause(), "mismatch");
  EXPECT_EQ(out.shares(0).owner(), "algorithm");
  EXPECT_EQ(out.shares(1).number(), 3u);
  EXPECT_TRUE(out.shares(1).rest());
  EXPECT_EQ(out.shares(2).entity().ranks(0), 1u);
  ASSERT_EQ(out.over_time_size(), 3);
  EXPECT_THAT(LostIn(out.over_time(0)), ElementsAre(0, 0, 2));
  EXPECT_THAT(LostIn(out.over_time(1)), ElementsAre(0, 4)) << "zeros at the end are not told";
  EXPECT_THAT(LostIn(out.over_time(2)), ElementsAre(8));
  EXPECT_EQ(out.over_time(2).begin_unix_ns(), 300);
  EXPECT_EQ(out.over_time(2).first_iteration(), 4);
}

TEST(JobLedgerProtoTest, EqualSharesKeepTheOrderInWhichTheyWereSeen) {
  RunningAccount::State state;
  for (std::uint32_t rank = 0; rank < 20; ++rank)
    state.losses.push_back(LossOf(rank, Cause::kGc, 1));
  v1::JobLedger out;
  ToProto(state, out);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(out.shares(i).number(), static_cast<std::uint64_t>(i));
}

TEST(JobLedgerProtoTest, AnAccountGoesOnFromWhatWasKept) {
  const auto back = AccountFromBytes(ToBytes(Kept()));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->started, WallNs(50));
  EXPECT_EQ(back->through, WallNs(310));
  EXPECT_EQ(back->hang, "v0123456789ab");
  EXPECT_EQ(back->hung_s, -1) << "that iteration is counted";
  EXPECT_EQ(back->state.slice_iterations, 2);
  EXPECT_EQ(back->state.lost_gpu_s(), 14.5);
  EXPECT_THAT(back->state.by_cause,
              ElementsAre(Pair(Pair(Cause::kGc, Owner::kOperations), 6.0),
                          Pair(Pair(Cause::kMismatch, Owner::kAlgorithm), 8.0)));
  EXPECT_EQ(ToBytes(*back), ToBytes(Kept())) << "and is kept again as it was";
}

// What comes after a restart is counted for the entity that it was counted for before.
TEST(JobLedgerProtoTest, WhatIsAddedAfterARestartMeetsItsOwnShare) {
  const std::vector<Loss> more = {LossOf(1, Cause::kGc, 0.5), LossOf(9, Cause::kGc, 0.25)};
  const RunningAccount::Took took{Iteration(6), WallNs(400), 1, 10, 0};
  RunningAccount through(ThreeLosses());
  RunningAccount restarted(AccountFromBytes(ToBytes(Kept()))->state);
  through.Add(took, more);
  restarted.Add(took, more);
  EXPECT_EQ(ToBytes({restarted.state(), {}, {}, "", 0}), ToBytes({through.state(), {}, {}, "", 0}));
  EXPECT_EQ(restarted.state().losses.size(), 4u);
}

TEST(JobLedgerProtoTest, AnEmptyAccountIsOne) {
  const auto back = AccountFromBytes(ToBytes({}));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->state.iterations, 0);
  EXPECT_THAT(back->state.losses, IsEmpty());
  EXPECT_EQ(back->state.slice_iterations, 1);
}

TEST(JobLedgerProtoTest, BytesThatAreNoRecordAreNothing) {
  const std::string bytes = ToBytes(Kept());
  EXPECT_FALSE(AccountFromBytes("").has_value()) << "slices of no iteration";
  EXPECT_FALSE(AccountFromBytes("\xFF\xFF\xFF").has_value());
  EXPECT_FALSE(AccountFromBytes("{\"ledger\":{}}").has_value());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto cut = AccountFromBytes(std::string_view(bytes).substr(0, length));
    EXPECT_LE(cut ? cut->state.losses.size() : 0, 3u) << length;
  }
}

TEST(JobLedgerProtoTest, AmountsThatCannotBeAreNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  using State = RunningAccount::State;
  const struct {
    const char* what;
    std::function<void(State&)> spoil;
  } cases[] = {
      {"used less than nothing", [](State& s) { s.used_gpu_s = -1; }},
      {"unexplained less than nothing", [](State& s) { s.unexplained_gpu_s = -0.5; }},
      {"no number", [nan](State& s) { s.used_gpu_s = nan; }},
      {"a loss that is a gain", [](State& s) { s.losses[1].gpu_s = -4; }},
      {"a loss that is no number", [nan](State& s) { s.losses[1].gpu_s = nan; }},
      {"slices of no iteration", [](State& s) { s.slice_iterations = 0; }},
      {"slices of less than none", [](State& s) { s.slice_iterations = -2; }},
      {"a slice of more losses than there are", [](State& s) { s.losses.clear(); }},
      {"a cause that is a gain", [](State& s) { s.by_cause.begin()->second = -6; }},
      {"a slice that used less than nothing", [](State& s) { s.slices[0].used_gpu_s = -1; }},
      {"a slice that lost less than nothing", [](State& s) { s.slices[0].lost_gpu_s[0] = -2; }},
      {"a slice that is no number", [nan](State& s) { s.slices[0].unexplained_gpu_s = nan; }},
      {"less than no iteration", [](State& s) { s.iterations = -6; }},
      {"a slice of less than none", [](State& s) { s.slices[2].iterations = -2; }},
  };
  for (const auto& each : cases) {
    KeptAccount account = Kept();
    each.spoil(account.state);
    std::string bytes = ToBytes(account);
    if (account.state.losses.empty()) {
      // What is written tells no slice of a loss that is not there: put in by hand.
      v1::KeptAccount message;
      ASSERT_TRUE(message.ParseFromString(bytes));
      message.mutable_ledger()->mutable_over_time(0)->add_lost_gpu_s(2);
      bytes = message.SerializeAsString();
    }
    EXPECT_FALSE(AccountFromBytes(bytes).has_value()) << each.what;
  }
}

}  // namespace
}  // namespace fathom::collector
