#include "daemon/agent/pipeline/iteration/rhythm.h"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMs = 1'000'000;

class RhythmTest : public ::testing::Test {
 protected:
  void Feed(std::size_t ops, std::int64_t pause_ms) {
    for (std::size_t i = 0; i < ops; ++i) rhythm_.Take(now_ += pause_ms * kMs);
  }
  Rhythm rhythm_;
  std::int64_t now_ = 5'000 * kMs;
};

TEST_F(RhythmTest, IsNotKnownBeforeThereAreEnoughOpsOverEnoughTime) {
  Feed(Rhythm::kOps, 1);
  EXPECT_EQ(rhythm_.Recent(), 0) << "too short";
  Feed(30, 50);
  EXPECT_EQ(rhythm_.Recent(), 0);
  EXPECT_EQ(rhythm_.History(), 0);
  Feed(20, 50);
  EXPECT_EQ(rhythm_.Recent(), 50 * kMs);
}

TEST_F(RhythmTest, ManyOpsAnIterationAreKnownAsSoon) {
  for (int iteration = 0; iteration < 60; ++iteration) {
    Feed(1, 40);
    Feed(200, 0);
  }
  EXPECT_EQ(rhythm_.Recent(), 40 * kMs);
}

TEST_F(RhythmTest, ABurstIsNoRhythmAndTheCompilationAfterItNoHistory) {
  Feed(1500, 1);
  EXPECT_EQ(rhythm_.Recent(), 0);
  Feed(1, 20'000);
  EXPECT_EQ(rhythm_.Recent(), 0);
  Feed(80, 40);
  EXPECT_EQ(rhythm_.Recent(), 40 * kMs);
  EXPECT_EQ(rhythm_.History(), 40 * kMs);
}

TEST_F(RhythmTest, ALongPauseIsHistoryUntilItIsForgotten) {
  Feed(200, 40);
  Feed(1, 9'000);
  EXPECT_EQ(rhythm_.Recent(), 9'000 * kMs);
  Feed(500, 40);
  EXPECT_EQ(rhythm_.Recent(), 40 * kMs);
  EXPECT_EQ(rhythm_.History(), 9'000 * kMs);
  Feed(Rhythm::kHistoryOps, 40);
  EXPECT_EQ(rhythm_.History(), 9'000 * kMs);
  Feed(Rhythm::kHistoryOps, 40);
  EXPECT_EQ(rhythm_.History(), 40 * kMs);
}

}  // namespace
}  // namespace fathom::agent
