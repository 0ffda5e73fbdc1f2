// Jobs with a fault of the network, or with work that is unequal: the device is named, and never a
// rank that has more to do or that waits.
#include <chrono>
#include <string>
#include <vector>

#include "collector/simulate/play/draw.h"
#include "collector/simulate/trial/score.h"
#include "collector/simulate/trial/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::simulate {
namespace {

constexpr std::uint32_t kRanks = 128;
constexpr std::uint64_t kSeeds = 1;  // fathom simulate --experiment kinds plays many

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Scenario JobWith(FaultKind kind, double factor, std::uint64_t seed) {
  Scenario job = DrawJob(kRanks, kind == FaultKind::kExpertImbalance ? 6 : 4, seed);
  job.cluster.nodes_per_leaf = 4;
  job.cluster.flows_told = true;
  job.faults = {DrawFault(job, kind, factor, seed)};
  return job;
}

Outcome Play(const Scenario& job) {
  SessionOptions options;
  options.now = Now;
  return Session(job, options).Run();
}

struct Told {
  FaultKind kind;
  double factor;
};

class ToldTest : public ::testing::TestWithParam<Told> {};

TEST_P(ToldTest, NamesWhatItIs) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Scenario job = JobWith(GetParam().kind, GetParam().factor, seed);
    const Outcome outcome = Play(job);
    const Score score = ScoreOf(job, outcome);
    EXPECT_TRUE(score.top1) << "seed " << seed << ", " << TruthOf(job);
    EXPECT_THAT(score.wrong, ::testing::IsEmpty()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Network, ToldTest,
                         ::testing::Values(Told{FaultKind::kSlowNic, 6},
                                           Told{FaultKind::kSlowNvlink, 6},
                                           Told{FaultKind::kSlowPath, 6},
                                           Told{FaultKind::kSlowLeaf, 6},
                                           Told{FaultKind::kSlowSpine, 6}),
                         [](const auto& told) { return std::string(ToString(told.param.kind)); });
INSTANTIATE_TEST_SUITE_P(Work, ToldTest,
                         ::testing::Values(Told{FaultKind::kStageImbalance, 1.4},
                                           Told{FaultKind::kSequenceImbalance, 1.4}),
                         [](const auto& told) { return std::string(ToString(told.param.kind)); });

// Without times of each pair the path between two nodes cannot be told from
// what all of a stage share: a wider entity may be named, no rank.
TEST(ToldTest, AccusesNoRankOfAPathThatNothingTells) {
  Scenario job = JobWith(FaultKind::kSlowPath, 6, 1);
  job.cluster.flows_told = false;
  for (const diagnosis::Verdict& verdict : Play(job).ever) {
    EXPECT_NE(verdict.entity.type, diagnosis::EntityType::kRank) << verdict.sentence;
    EXPECT_NE(verdict.entity.type, diagnosis::EntityType::kNic) << verdict.sentence;
  }
}

}  // namespace
}  // namespace fathom::simulate
