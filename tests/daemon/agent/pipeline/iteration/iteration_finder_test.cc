#include "daemon/agent/pipeline/iteration/iteration_finder.h"

#include <gtest/gtest.h>

#include <vector>

namespace fathom::agent {
namespace {

// An op of a made-up job: what it is, on which group, how large.
struct Op {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::uint64_t group = 1;
  std::uint32_t group_size = 4;
  std::uint64_t bytes = 4;
};

constexpr std::uint64_t kMiB = 1 << 20;
constexpr Op kLoss{.bytes = 4};
constexpr Op kBucket{.bytes = kMiB};
constexpr Op kTensor{.group = 2, .group_size = 2, .bytes = 98'304};

class IterationFinderTest : public testing::Test {
 protected:
  OpKey Key(const Op& op) {
    OpRow row;
    row.kind = op.kind;
    row.bytes = op.bytes;
    row.sequence = IsPointToPoint(op.kind) ? abi::kNoSequence64 : 0;
    row.enter_ns = now_ns_ += step_ns_;
    return KeyOf(row, GroupId(op.group), op.group_size, alone_);
  }
  // Feeds the ops; returns how many anchors were seen among them.
  int Feed(const std::vector<Op>& ops) {
    int anchors = 0;
    for (const Op& op : ops) {
      const OpKey key = Key(op);
      anchors += matcher_.has_value() && matcher_->Take(key);
      if (finder_.Take(key) == IterationFinder::News::kLearned) {
        matcher_.emplace(*finder_.anchor());
        ++learned_;
      }
    }
    return anchors;
  }
  int FeedTimes(const std::vector<Op>& ops, int times) {
    int anchors = 0;
    for (int i = 0; i < times; ++i) anchors += Feed(ops);
    return anchors;
  }
  std::uint64_t AnchorKey() const { return finder_.anchor()->context.back(); }

  bool alone_ = false;
  std::int64_t step_ns_ = 20'000'000;
  std::int64_t now_ns_ = 0;
  IterationFinder finder_{FinderRule{}};
  std::optional<AnchorMatcher> matcher_;
  int learned_ = 0;
};

const std::vector<Op> kStartUp = {{.kind = CollectiveKind::kAllGather, .bytes = 8},
                                  {.kind = CollectiveKind::kBroadcast, .bytes = 900'000},
                                  {.kind = CollectiveKind::kBroadcast, .bytes = 400'000}};
const std::vector<Op> kDdp = {kBucket, {.bytes = kMiB + 64}, kLoss};

TEST_F(IterationFinderTest, FindsTheStepOfADdpJobAfterStartUp) {
  Feed(kStartUp);
  Feed({{.bytes = 3 * kMiB}, kLoss});  // the first step has other buckets
  FeedTimes(kDdp, 30);
  ASSERT_EQ(learned_, 1);
  EXPECT_EQ(finder_.period(), 3u);
  EXPECT_EQ(AnchorKey(), Key(kLoss).exact);
  EXPECT_EQ(FeedTimes(kDdp, 20), 20);
  EXPECT_EQ(finder_.misses_total(), 0u);
}

TEST_F(IterationFinderTest, KeysOfTheStartUpDoNotHideThatALogLineIsRare) {
  Feed(kStartUp);
  Feed({{.bytes = 3 * kMiB}, kLoss});
  for (int i = 0; i < 40; ++i) {
    Feed(kDdp);
    if (i % 10 == 9) Feed({{.kind = CollectiveKind::kBarrier}});
  }
  Feed(kDdp);
  finder_.Pause();
  EXPECT_EQ(finder_.period(), 3u);
}

TEST_F(IterationFinderTest, NeedsTenRepeats) {
  Feed(kStartUp);
  FeedTimes(kDdp, 10);
  EXPECT_EQ(learned_, 0);
  FeedTimes(kDdp, 25);
  EXPECT_EQ(learned_, 1);
}

// A server of parameters and its workers: nothing but messages, three times ten repeats.
TEST_F(IterationFinderTest, MessagesAloneTellItWhereNothingElseDoes) {
  Feed(kStartUp);
  const std::vector<Op> worker = {{.kind = CollectiveKind::kSend, .bytes = kMiB},
                                  {.kind = CollectiveKind::kRecv, .bytes = kMiB}};
  FeedTimes(worker, 26);
  EXPECT_EQ(learned_, 0);
  FeedTimes(worker, 30);
  ASSERT_EQ(learned_, 1);
  EXPECT_TRUE(finder_.anchor()->messages);
  EXPECT_EQ(AnchorKey(), Key(worker[1]).exact);
  EXPECT_EQ(FeedTimes(worker, 20), 20);
}

std::vector<Op> StageOf(int micro_batches) {
  std::vector<Op> step;
  for (int i = 0; i < micro_batches; ++i) {
    step.push_back({.kind = CollectiveKind::kRecv, .bytes = kMiB});
    step.push_back({.kind = CollectiveKind::kSend, .bytes = kMiB});
  }
  step.push_back(kLoss);
  return step;
}

TEST_F(IterationFinderTest, MessagesOfMicroBatchesAreNoIteration) {
  FeedTimes(StageOf(16), 60);
  ASSERT_TRUE(finder_.anchor().has_value());
  EXPECT_FALSE(finder_.anchor()->messages);
  EXPECT_EQ(finder_.period(), 33u);
}

TEST_F(IterationFinderTest, TheCollectiveBehindVeryManyMicroBatchesProvesThemNone) {
  FeedTimes(StageOf(64), 60);
  ASSERT_TRUE(finder_.anchor().has_value());
  EXPECT_FALSE(finder_.anchor()->messages);
  EXPECT_EQ(finder_.period(), 129u);
}

TEST_F(IterationFinderTest, AStreamWithoutAPeriodAbstains) {
  std::uint64_t state = 1;
  for (int i = 0; i < 3000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    Feed({{.kind = (state >> 60) % 2 == 0 ? CollectiveKind::kAllReduce : CollectiveKind::kBroadcast,
           .bytes = 1000 + (state >> 40) % 5000}});
  }
  EXPECT_EQ(learned_, 0);
  EXPECT_TRUE(finder_.learning());
}

TEST_F(IterationFinderTest, ABurstOfEqualOpsIsNotAnIteration) {
  std::vector<Op> step(24, kBucket);  // equal buckets within one backward pass
  step.push_back({.bytes = kMiB / 2});
  step_ns_ = 1'000'000;
  for (int i = 0; i < 60; ++i) {
    Feed(step);
    now_ns_ += 100'000'000;
  }
  ASSERT_GE(learned_, 1);
  EXPECT_EQ(finder_.period(), 25u);
  EXPECT_EQ(FeedTimes(step, 10), 10);
}

TEST_F(IterationFinderTest, MicroBatchesAreNotIterations) {
  std::vector<Op> step;
  for (int micro = 0; micro < 16; ++micro) step.insert(step.end(), 4, kTensor);
  step.push_back(kBucket);
  FeedTimes(step, 40);
  ASSERT_GE(learned_, 1);
  EXPECT_EQ(finder_.period(), 65u);
  EXPECT_EQ(AnchorKey(), Key(kBucket).exact);
  EXPECT_EQ(FeedTimes(step, 5), 5);
}

TEST_F(IterationFinderTest, TheAnchorIsInTheLargestGroup) {
  // The tensor group's op comes as rarely as the world's, but the world is larger.
  const std::vector<Op> step = {kTensor, kBucket, {.bytes = 2 * kMiB}};
  FeedTimes(step, 40);
  ASSERT_EQ(learned_, 1);
  EXPECT_EQ(finder_.anchor()->group, GroupId(1));
  EXPECT_EQ(AnchorKey(), Key(kBucket).exact);  // the smaller of two
}

TEST_F(IterationFinderTest, AMessageIsNoAnchorBesideACollective) {
  const std::vector<Op> step = {{.kind = CollectiveKind::kSend, .bytes = 9},
                                {.kind = CollectiveKind::kBroadcast, .bytes = kMiB},
                                {.kind = CollectiveKind::kRecv, .bytes = 9}};
  FeedTimes(step, 100);
  ASSERT_EQ(learned_, 1);
  EXPECT_FALSE(finder_.anchor()->messages);
  EXPECT_EQ(AnchorKey(), Key(step[1]).exact);
}

TEST_F(IterationFinderTest, APipelineIsAnchoredByItsCollective) {
  std::vector<Op> step;
  for (int micro = 0; micro < 4; ++micro) {
    step.push_back({.kind = CollectiveKind::kRecv, .bytes = 98'304});
    step.push_back({.kind = CollectiveKind::kSend, .bytes = 98'304});
  }
  step.push_back(kLoss);
  FeedTimes(step, 30);
  ASSERT_EQ(learned_, 1);
  EXPECT_EQ(AnchorKey(), Key(kLoss).exact);
}

TEST_F(IterationFinderTest, ALogLineEveryTenStepsDoesNotMakeItTenSteps) {
  const std::vector<Op> log_line = {{.bytes = 64}};
  for (int i = 0; i < 80; ++i) {
    Feed(kDdp);
    if (i % 10 == 9) Feed(log_line);
  }
  ASSERT_GE(learned_, 1);
  EXPECT_EQ(finder_.period(), 3u);
  EXPECT_EQ(AnchorKey(), Key(kLoss).exact);
}

TEST_F(IterationFinderTest, AnEvaluationPhaseDoesNotUnsettleTheSteps) {
  FeedTimes(kDdp, 40);
  const Op eval{.kind = CollectiveKind::kAllGather, .bytes = 128};
  EXPECT_EQ(FeedTimes({eval}, 60), 0);
  EXPECT_EQ(FeedTimes(kDdp, 40), 40);
  EXPECT_EQ(learned_, 1);
}

TEST_F(IterationFinderTest, ANewPatternIsLearnedAfterTwoHundredMisses) {
  FeedTimes(kDdp, 40);
  ASSERT_EQ(learned_, 1);
  const std::vector<Op> other = {{.bytes = 7 * kMiB}, {.bytes = 5 * kMiB}, {.bytes = 8}};
  FeedTimes(other, 250);
  EXPECT_EQ(learned_, 2);
  EXPECT_EQ(AnchorKey(), Key({.bytes = 8}).exact);
  EXPECT_EQ(FeedTimes(other, 10), 10);
}

TEST_F(IterationFinderTest, ChangingSizesAreFollowedWithoutSizes) {
  for (int i = 0; i < 300; ++i) {
    const auto length = static_cast<std::uint64_t>(1000 + (i * 7919) % 977);
    Feed({{.kind = CollectiveKind::kAllGather, .bytes = length},
          {.kind = CollectiveKind::kReduceScatter, .bytes = length}});
  }
  ASSERT_GE(learned_, 1);
  EXPECT_TRUE(finder_.anchor()->sizeless);
  EXPECT_EQ(finder_.period(), 2u);
}

// Experts get as many tokens as were routed to them: other amounts in each step, some of them
// again.
TEST_F(IterationFinderTest, UnevenExchangesAreTheSameOp) {
  constexpr Op kCounts{.kind = CollectiveKind::kAllToAll, .bytes = 32};
  for (std::uint64_t i = 0; i < 40; ++i) {
    Op there{.kind = CollectiveKind::kAllToAll, .bytes = kMiB + 768 * (i * 37 % 23)};
    Op back{.kind = CollectiveKind::kAllToAll, .bytes = kMiB + 768 * (i * 41 % 19)};
    Feed({kCounts, there, back, kBucket});
  }
  ASSERT_EQ(learned_, 1);
  EXPECT_EQ(finder_.period(), 4u);
  EXPECT_EQ(finder_.misses_total(), 0u);
}

// The near miss: other ops whose sizes change and come again have no period yet.
TEST_F(IterationFinderTest, SizesOfOtherOpsTellThemApart) {
  for (std::uint64_t i = 0; i < 40; ++i) Feed({{.bytes = kMiB + 768 * (i * 37 % 23)}, kBucket});
  EXPECT_EQ(learned_, 0);
}

TEST_F(IterationFinderTest, ASlowStartIsNotTakenForChangingSizes) {
  // Slow steps span a second long before the exact pattern has repeated ten times: the all-reduces,
  // alike but for their sizes, must not pass for iterations of one op.
  step_ns_ = 100'000'000;
  FeedTimes(kDdp, 9);
  EXPECT_EQ(learned_, 0);
  FeedTimes(kDdp, 20);
  ASSERT_EQ(learned_, 1);
  EXPECT_FALSE(finder_.anchor()->sizeless);
  EXPECT_EQ(finder_.period(), kDdp.size());
}

TEST_F(IterationFinderTest, ManyBucketsOfDifferentSizesAreOnePattern) {
  step_ns_ = 20'000'000;
  std::vector<Op> step;
  for (std::uint64_t i = 0; i < 90; ++i) step.push_back({.bytes = kMiB + 64 * i});
  FeedTimes(step, 25);
  ASSERT_EQ(learned_, 1);
  EXPECT_FALSE(finder_.anchor()->sizeless);
  EXPECT_EQ(finder_.period(), step.size());
}

TEST_F(IterationFinderTest, WhereNoKeyComesOnceTheContextTellsThemApart) {
  // Two all-reduces a step, equal in all but what came before them.
  const Op gather{.kind = CollectiveKind::kAllGather, .bytes = kMiB};
  const std::vector<Op> step = {kBucket, kBucket, gather, gather};
  FeedTimes(step, 40);
  ASSERT_EQ(learned_, 1);
  EXPECT_GT(finder_.anchor()->context.size(), 1u);
  EXPECT_EQ(FeedTimes(step, 10), 10);
}

// Equal layers cut over pairs of ranks, which are replicas in other pairs: as DTensor has them.
std::vector<Op> StepOfEqualLayers(std::uint64_t tensor, std::uint64_t data) {
  std::vector<Op> step(3, {.group = tensor, .group_size = 2, .bytes = 98'304});
  for (int layer = 0; layer < 5; ++layer) {
    step.push_back({.group = data, .group_size = 2, .bytes = 147'456});
    step.push_back({.group = data, .group_size = 2, .bytes = 768});
  }
  return step;
}

TEST_F(IterationFinderTest, WhereEachGroupRepeatsTheOtherGroupsTellAnIteration) {
  const std::vector<Op> step = StepOfEqualLayers(2, 3);
  FeedTimes(step, 30);
  ASSERT_EQ(learned_, 1);
  EXPECT_EQ(finder_.period(), 13u);
  EXPECT_TRUE(finder_.anchor()->across);
  EXPECT_EQ(FeedTimes(step, 20), 20);
}

// The other rank of a pair has another second group, and ends its iterations at the same op.
TEST_F(IterationFinderTest, MembersOfAGroupChooseAlikeByWhatOtherGroupsDo) {
  std::vector<std::size_t> places;
  for (const auto& [tensor, data] : {std::pair{2, 9}, std::pair{8, 3}}) {
    const std::vector<Op> step =
        StepOfEqualLayers(static_cast<std::uint64_t>(tensor), static_cast<std::uint64_t>(data));
    std::vector<OpKey> period;
    for (const Op& op : step) period.push_back(Key(op));
    const std::optional<Anchor> anchor = ChooseAnchor(period, false);
    ASSERT_TRUE(anchor.has_value());
    EXPECT_EQ(anchor->group, GroupId(static_cast<std::uint64_t>(data)));
    AnchorMatcher matcher(*anchor);
    for (const OpKey& key : period) matcher.Take(key);
    for (std::size_t k = 0; k < period.size(); ++k) {
      if (matcher.Take(period[k])) places.push_back(k);
    }
  }
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0], places[1]);
}

TEST_F(IterationFinderTest, AShortJobIsDecidedAtItsEnd) {
  step_ns_ = 1'000'000;
  FeedTimes(kDdp, 20);
  EXPECT_EQ(learned_, 0);  // the repeats do not last a second
  EXPECT_EQ(finder_.Finish(), IterationFinder::News::kLearned);
  EXPECT_EQ(finder_.period(), 3u);
}

TEST_F(IterationFinderTest, APauseDecidesUnlessItIsBetweenBurstsOfOneOp) {
  step_ns_ = 1'000'000;
  FeedTimes({kBucket}, 24);
  EXPECT_EQ(finder_.Pause(), IterationFinder::News::kNone);
  FeedTimes(kDdp, 15);
  EXPECT_EQ(finder_.Pause(), IterationFinder::News::kLearned);
  EXPECT_EQ(finder_.period(), 3u);
}

TEST_F(IterationFinderTest, GroupsOfOneAreNoAnchor) {
  FeedTimes({{.group = 9, .group_size = 1, .bytes = 77}}, 100);
  EXPECT_EQ(learned_, 0);
}

constexpr Op kAlone{.group = 9, .group_size = 1, .bytes = kMiB};
constexpr Op kStep{.kind = CollectiveKind::kStep, .group = 8, .group_size = 1, .bytes = 4 * kMiB};

TEST_F(IterationFinderTest, InAJobOfOneRankTheyAre) {
  alone_ = true;
  FeedTimes({kAlone}, 100);
  EXPECT_EQ(learned_, 1);
  EXPECT_EQ(finder_.period(), 1u);
}

TEST_F(IterationFinderTest, AStepOfTheOptimizerIsTheAnchorBeforeOtherOpsOfOne) {
  alone_ = true;
  FeedTimes({kAlone, {.group = 9, .group_size = 1, .bytes = 4}, kStep}, 40);
  ASSERT_EQ(learned_, 1);
  EXPECT_EQ(AnchorKey(), Key(kStep).exact);
}

TEST_F(IterationFinderTest, TwoOptimizersMakeOneIteration) {
  alone_ = true;
  const Op discriminator{.kind = CollectiveKind::kStep, .group = 8, .group_size = 1, .bytes = kMiB};
  FeedTimes({discriminator, discriminator, kStep}, 30);
  ASSERT_EQ(learned_, 1);
  EXPECT_EQ(finder_.period(), 3u);
  EXPECT_EQ(AnchorKey(), Key(kStep).exact);
}

}  // namespace
}  // namespace fathom::agent
