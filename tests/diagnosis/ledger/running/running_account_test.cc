// The account of a whole job.
#include "diagnosis/ledger/running/running_account.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

namespace fathom::diagnosis {
namespace {

Loss LossOf(std::uint32_t rank, double gpu_s, Cause cause = Cause::kHostSlow) {
  Loss loss{.number = rank, .cause = cause, .owner = Owner::kInfrastructure, .gpu_s = gpu_s};
  loss.entity.ranks = {RankId(rank)};
  return loss;
}

RunningAccount::Took TookAt(std::int64_t iteration) {
  return {.index = Iteration(iteration),
          .begin = WallNs(1'000 + iteration),
          .used_gpu_s = 4,
          .unexplained_gpu_s = 0.25};
}

double SumOfLosses(const RunningAccount::State& state) {
  double sum = state.unexplained_gpu_s;
  for (const Loss& loss : state.losses) sum += loss.gpu_s;
  return sum;
}

double SumOfSlices(const RunningAccount::State& state) {
  double sum = 0;
  for (const AccountSlice& slice : state.slices) {
    sum += slice.unexplained_gpu_s;
    for (const double gpu_s : slice.lost_gpu_s) sum += gpu_s;
  }
  return sum;
}

TEST(RunningAccountTest, AmountsOfOneEntityAndCauseAddUp) {
  RunningAccount account;
  account.Add(TookAt(0), {LossOf(2, 1), LossOf(2, 0.5, Cause::kGc)});
  account.Add(TookAt(1), {LossOf(2, 1)});
  const auto& state = account.state();
  ASSERT_EQ(state.losses.size(), 2u);
  EXPECT_EQ(state.losses[0].gpu_s, 2);
  EXPECT_EQ(state.losses[1].gpu_s, 0.5);
  EXPECT_EQ(state.by_cause.at({Cause::kHostSlow, Owner::kInfrastructure}), 2);
  EXPECT_EQ(state.used_gpu_s, 8);
  EXPECT_EQ(account.lost_gpu_s(), 3);
}

TEST(RunningAccountTest, SlicesDoubleAndKeepTheirSums) {
  RunningAccount account;
  for (std::int64_t i = 0; i < 1000; ++i) account.Add(TookAt(i), {LossOf(i < 500 ? 1u : 2u, 1)});
  const auto& state = account.state();
  EXPECT_LE(state.slices.size(), RunningAccount::kMostSlices);
  EXPECT_GE(state.slices.size(), RunningAccount::kMostSlices / 2);
  EXPECT_DOUBLE_EQ(SumOfSlices(state), SumOfLosses(state));
  std::int64_t iterations = 0;
  for (std::size_t s = 0; s < state.slices.size(); ++s) {
    const AccountSlice& slice = state.slices[s];
    EXPECT_EQ(slice.first.value, iterations);
    iterations += slice.iterations;
    if (s + 1 < state.slices.size()) {
      EXPECT_EQ(slice.iterations, state.slice_iterations);
    }
  }
  EXPECT_EQ(iterations, 1000);
  EXPECT_EQ(state.slices.front().lost_gpu_s.size(), 1u) << "rank 2 came later";
}

// A culprit among very many that have a hiccup now and then.
TEST(RunningAccountTest, NamesAreBoundedNoCauseEverFallsAndTheCulpritStays) {
  std::mt19937 dice(3);
  RunningAccount account;
  std::map<std::pair<Cause, Owner>, double> before;
  for (std::int64_t i = 0; i < 5000; ++i) {
    const std::uint32_t other = 100 + dice() % 4000;
    account.Add(TookAt(i), {LossOf(7, 0.1), LossOf(other, 0.05, Cause::kGc)});
    ASSERT_LE(account.state().losses.size(), 2 * RunningAccount::kMostShares);
    for (const auto& [cause, gpu_s] : before) ASSERT_GE(account.state().by_cause.at(cause), gpu_s);
    before = account.state().by_cause;
  }
  const auto& state = account.state();
  EXPECT_NEAR(SumOfLosses(state), account.lost_gpu_s(), 1e-6);
  EXPECT_NEAR(SumOfSlices(state), account.lost_gpu_s(), 1e-6);
  const auto culprit = std::find_if(state.losses.begin(), state.losses.end(),
                                    [](const Loss& loss) { return loss.number == 7; });
  ASSERT_NE(culprit, state.losses.end());
  EXPECT_NEAR(culprit->gpu_s, 500, 1e-6);
}

TEST(RunningAccountTest, AHangIsCountedBeforeItsIterationEnds) {
  RunningAccount account;
  account.Add(TookAt(0), {});
  account.Add({.index = Iteration(1), .begin = WallNs(5), .iterations = 0, .used_gpu_s = 40},
              {LossOf(3, 40, Cause::kProcessStopped)});
  EXPECT_EQ(account.state().iterations, 1);
  EXPECT_EQ(account.state().used_gpu_s, 44);
  EXPECT_EQ(account.lost_gpu_s(), 40.25);
}

}  // namespace
}  // namespace fathom::diagnosis
