// What bounds an iteration, on jobs whose every part is known, with near misses and confusers.
#include "diagnosis/tables/step_bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "diagnosis/tables/step_words.h"

namespace fathom::diagnosis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double kExact = 1e-9;

Nanos Ms(double ms) { return Nanos::FromSeconds(ms * 1e-3); }

// An iteration of 100 ms of one rank, 90 of them computed.
RankIteration Computing() {
  RankIteration rank;
  rank.rank = RankId(0);
  rank.duration = Ms(100);
  rank.cpu = Ms(90);
  return rank;
}

JobView JobOf(const std::vector<RankIteration>& ranks, int iterations = 10) {
  JobView view;
  view.world_size = static_cast<std::uint32_t>(ranks.size());
  for (int i = 0; i < iterations; ++i) {
    IterationSummary summary;
    summary.index = Iteration(i);
    summary.ranks = ranks;
    view.window.push_back(summary);
  }
  return view;
}

double Sum(const StepBound& bound) {
  return std::accumulate(bound.parts.begin(), bound.parts.end(), 0.0,
                         [](double sum, const auto& part) { return sum + part.seconds; });
}

TEST(StepBoundTest, OneRankThatComputesIsBoundByComputing) {
  const StepBound bound = BoundOf(JobOf({Computing()}));
  ASSERT_TRUE(bound.known());
  EXPECT_THAT(bound.Bounds(), ElementsAre(StepPart::kComputing));
  EXPECT_NEAR(bound.share(StepPart::kComputing), 0.9, kExact);
  EXPECT_NEAR(Sum(bound), bound.step_s, kExact);
  EXPECT_EQ(bound.ranks, 1u);
}

TEST(StepBoundTest, ASlowLoaderOfOneRankIsTheBound) {
  RankIteration rank = Computing();
  rank.cpu = Ms(30);
  rank.dataloader = Ms(65);
  const StepBound bound = BoundOf(JobOf({rank}));
  EXPECT_THAT(bound.Bounds(), ElementsAre(StepPart::kInput));
  EXPECT_THAT(InWords(bound),
              HasSubstr("It is bound by the data loader, which takes 65 ms (65 %)"));
  EXPECT_THAT(AdviceOn(bound), HasSubstr("more workers"));
}

// The loader works in the training thread: its computing is no second part of the iteration.
TEST(StepBoundTest, ALoaderThatComputesInTheTrainingThreadCountsOnce) {
  RankIteration rank = Computing();
  rank.cpu = Ms(98);
  rank.dataloader = Ms(70);
  const StepBound bound = BoundOf(JobOf({rank}));
  EXPECT_NEAR(bound.share(StepPart::kInput), 0.7, kExact);
  EXPECT_NEAR(bound.share(StepPart::kComputing), 0.3, kExact);
  EXPECT_NEAR(Sum(bound), 0.1, kExact);
}

TEST(StepBoundTest, TwoPartsThatAreNearBoundItTogether) {
  RankIteration rank = Computing();
  rank.cpu = Ms(49);
  rank.dataloader = Ms(46);
  EXPECT_THAT(BoundOf(JobOf({rank})).Bounds(), ElementsAre(StepPart::kComputing, StepPart::kInput));
  EXPECT_THAT(InWords(BoundOf(JobOf({rank}))), HasSubstr("computing and the data loader alike"));
  rank.dataloader = Ms(42);  // seven hundredths apart: the larger one alone
  EXPECT_THAT(BoundOf(JobOf({rank})).Bounds(), ElementsAre(StepPart::kComputing));
}

TEST(StepBoundTest, ALossBelowATwentiethIsNotHeldAgainstAHealthyJob) {
  RankIteration rank = Computing();
  rank.cpu = Ms(96);
  rank.dataloader = Ms(4);
  EXPECT_EQ(BoundOf(JobOf({rank})).Loss(), nullptr);
  EXPECT_THAT(InWords(BoundOf(JobOf({rank}))), HasSubstr("nothing else takes a twentieth"));
  rank.cpu = Ms(94);
  rank.dataloader = Ms(6);
  const StepBound bound = BoundOf(JobOf({rank}));
  ASSERT_NE(bound.Loss(), nullptr);
  EXPECT_EQ(bound.Loss()->part, StepPart::kInput);
  EXPECT_THAT(InWords(bound), HasSubstr("most is to be won from the data loader, 6.0 ms (6 %)"));
}

RankIteration Communicating(std::uint32_t rank, double compute_ms, double elapsed_ms) {
  RankIteration out = Computing();
  out.rank = RankId(rank);
  out.cpu = Ms(compute_ms);
  out.blocked = Ms(elapsed_ms);
  GroupIteration group;
  group.group = GroupId(7);
  group.count = 1;
  group.elapsed = group.longest = group.shortest = Ms(elapsed_ms);
  out.groups.push_back(group);
  return out;
}

TEST(StepBoundTest, CommunicationThatAllMembersTakeIsTransfer) {
  const StepBound bound = BoundOf(JobOf({Communicating(0, 30, 70), Communicating(1, 30, 70)}));
  EXPECT_THAT(bound.Bounds(), ElementsAre(StepPart::kCommunication));
  EXPECT_NEAR(bound.share(StepPart::kCommunication), 0.7, kExact);
  EXPECT_EQ(bound.share(StepPart::kWaiting), 0);
}

// The confuser: rank 0 waits for rank 1, which computes longer. It is no matter of the network.
TEST(StepBoundTest, CommunicationOfWhoCameEarlyIsWaiting) {
  const StepBound bound = BoundOf(JobOf({Communicating(0, 20, 80), Communicating(1, 95, 5)}));
  EXPECT_NEAR(bound.share(StepPart::kWaiting), 0.375, kExact);  // 75 ms of one rank of two
  EXPECT_NEAR(bound.share(StepPart::kCommunication), 0.05, kExact);
  EXPECT_THAT(AdviceOn(bound), HasSubstr("unequal work"));
}

TEST(StepBoundTest, GarbageAndCoresAreToldApartFromComputing) {
  RankIteration rank = Computing();
  rank.cpu = Ms(60);
  rank.gc = Ms(20);
  rank.runqueue = Ms(35);
  const StepBound bound = BoundOf(JobOf({rank}));
  EXPECT_NEAR(bound.share(StepPart::kGarbage), 0.2, kExact);
  EXPECT_NEAR(bound.share(StepPart::kCores), 0.35, kExact);
  EXPECT_NEAR(bound.share(StepPart::kComputing), 0.4, kExact);
  EXPECT_NEAR(bound.share(StepPart::kIdle), 0.05, kExact);
}

TEST(StepBoundTest, ARankThatSleepsIsIdleAndNotComputing) {
  RankIteration rank = Computing();
  rank.cpu = Ms(20);
  const StepBound bound = BoundOf(JobOf({rank}));
  EXPECT_THAT(bound.Bounds(), ElementsAre(StepPart::kIdle));
  EXPECT_THAT(AdviceOn(bound), HasSubstr("py-spy"));
}

TEST(StepBoundTest, ASpikeDoesNotMoveTheShares) {
  JobView view = JobOf({Computing()}, 20);
  view.window[3].ranks[0].duration = Ms(30'000);
  const StepBound bound = BoundOf(view);
  EXPECT_EQ(bound.iterations, 19u);
  EXPECT_NEAR(bound.step_s, 0.1, kExact);
}

TEST(StepBoundTest, TooFewIterationsAreToldAndNotJudged) {
  const StepBound two = BoundOf(JobOf({Computing()}, 2));
  EXPECT_FALSE(two.known());
  EXPECT_THAT(two.missing, HasSubstr("3 iterations or more; 2 are known"));
  EXPECT_TRUE(two.parts.empty());
  EXPECT_EQ(AdviceOn(two), "");
  EXPECT_THAT(BoundOf(JobView()).missing, HasSubstr("none are known"));
}

// A device that computes 40 of 100 ms, and communicates 10 that nothing hides.
RankIteration OnDevice() {
  RankIteration rank = Communicating(0, 99, 10);
  rank.device = Ms(40);
  return rank;
}

RankTables TablesWith(double host_wait, double other) {
  RankTables tables;
  tables.rank = RankId(0);
  tables.on_device = true;
  tables.breakdown = {1, 0.3, 0.2, 0.5, 0.1, 0.1, 0};  // copies: a tenth, compute: three
  tables.idle = {{7, host_wait, 0, other}, {20, 9, 0, 0}};
  tables.launches.resize(2);
  tables.launches[0].stream = 7;
  tables.launches[0].count = 1000;
  tables.launches[1].stream = 20;
  tables.launches[1].count = 3;
  return tables;
}

TEST(StepBoundTest, ADeviceThatIsLaunchedLateIsBoundByItsHost) {
  const StepBound bound = BoundOf(JobOf({OnDevice()}), {TablesWith(0.9, 0.1)});
  EXPECT_EQ(bound.clock, StepClock::kDevice);
  EXPECT_THAT(bound.Bounds(), ElementsAre(StepPart::kHost));
  EXPECT_NEAR(bound.share(StepPart::kHost), 0.45, kExact);
  EXPECT_NEAR(bound.share(StepPart::kIdle), 0.05, kExact);
  EXPECT_NEAR(bound.share(StepPart::kCopies), 0.1, kExact);
  EXPECT_NEAR(bound.share(StepPart::kComputing), 0.3, kExact);
  EXPECT_NEAR(bound.share(StepPart::kCommunication), 0.1, kExact);
  EXPECT_THAT(AdviceOn(bound), HasSubstr("torch.compile"));
}

// Loading that runs beside the device costs nothing; what makes it idle does.
TEST(StepBoundTest, LoadingBesideABusyDeviceIsHidden) {
  RankIteration rank = OnDevice();
  rank.device = Ms(85);
  rank.dataloader = Ms(60);
  const StepBound hidden = BoundOf(JobOf({rank}), {TablesWith(1, 0)});
  EXPECT_NEAR(hidden.share(StepPart::kInput), 0.05, kExact);  // 85 and 10 are taken
  rank.device = Ms(20);
  const StepBound shown = BoundOf(JobOf({rank}), {TablesWith(1, 0)});
  EXPECT_NEAR(shown.share(StepPart::kInput), 0.6, kExact);
  EXPECT_THAT(shown.Bounds(), ElementsAre(StepPart::kInput));
}

// A rank that drives a GPU of which only communication is told.
JobView DrivingGpus(const RankIteration& rank) {
  JobView view = JobOf({rank});
  view.ranks.resize(1);
  view.ranks[0].gpu = Gpu();
  return view;
}

TEST(StepBoundTest, AGpuThatNothingTracesIsNotCalledComputing) {
  RankIteration rank = Computing();
  rank.cpu = Ms(15);
  const StepBound bound = BoundOf(DrivingGpus(rank));
  EXPECT_EQ(bound.clock, StepClock::kHostOfGpu);
  EXPECT_THAT(bound.Bounds(), ElementsAre(StepPart::kGpu));
  EXPECT_EQ(bound.share(StepPart::kComputing), 0);
  EXPECT_NEAR(bound.share(StepPart::kHost), 0.15, kExact);
  EXPECT_THAT(InWords(bound), Not(HasSubstr("computing")));
}

// CUDA's waits spin: the host has computed for 98 ms, and stood still for 80 of them.
TEST(StepBoundTest, AHostThatSpinsForItsGpuIsNotTheBound) {
  RankIteration rank = Computing();
  rank.cpu = Ms(98);
  rank.device_wait = Ms(80);
  rank.blocked = Ms(20);  // its GPU communicates meanwhile
  const StepBound bound = BoundOf(DrivingGpus(rank));
  EXPECT_THAT(bound.Bounds(), ElementsAre(StepPart::kGpu));
  EXPECT_NEAR(bound.share(StepPart::kGpu), 0.6, kExact);
  EXPECT_NEAR(bound.share(StepPart::kCommunication), 0.2, kExact);
  EXPECT_NEAR(bound.share(StepPart::kHost), 0.18, kExact);
  EXPECT_NEAR(Sum(bound), 0.1, kExact);
}

TEST(StepBoundTest, AHostThatSleepsInItsWaitsKeepsItsCpuTime) {
  RankIteration rank = Computing();
  rank.cpu = Ms(30);
  rank.device_wait = Ms(60);
  const StepBound bound = BoundOf(DrivingGpus(rank));
  EXPECT_NEAR(bound.share(StepPart::kGpu), 0.6, kExact);
  EXPECT_NEAR(bound.share(StepPart::kHost), 0.3, kExact);
  EXPECT_NEAR(bound.share(StepPart::kIdle), 0.1, kExact);
}

// The confuser: the host is busy by itself, and hardly ever waits.
TEST(StepBoundTest, AHostThatDoesNotKeepUpWithItsGpuIsTheBound) {
  RankIteration rank = Computing();
  rank.cpu = Ms(98);
  rank.device_wait = Ms(5);
  const StepBound bound = BoundOf(DrivingGpus(rank));
  EXPECT_THAT(bound.Bounds(), ElementsAre(StepPart::kHost));
  EXPECT_NEAR(bound.share(StepPart::kHost), 0.93, kExact);
  EXPECT_NEAR(bound.share(StepPart::kIdle), 0.02, kExact);
}

TEST(StepBoundTest, SharesSumToOneHoweverTheSourcesOverlap) {
  RankIteration rank = OnDevice();
  rank.dataloader = rank.gc = rank.runqueue = rank.blocked = Ms(80);
  for (const Nanos device : {Nanos(0), Ms(40), Ms(500)}) {
    rank.device = device;
    const StepBound bound = BoundOf(JobOf({rank}), {TablesWith(0.5, 0.5)});
    EXPECT_NEAR(Sum(bound), 0.1, kExact) << device.count;
    EXPECT_NEAR(bound.step_s, 0.1, kExact);
  }
}

}  // namespace
}  // namespace fathom::diagnosis
