#include "diagnosis/wording/kernel.h"

#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

constexpr RankId kSlow(2);

// Iterations 100 to 109 of four ranks: kernel "gemm" twice an iteration, `ms` each on a rank.
class KernelTest : public testing::Test {
 protected:
  KernelTest() {
    suspicion_.onset = Iteration(60);
    for (std::uint32_t rank = 0; rank < 4; ++rank) Give(RankId(rank), "gemm", 3, 20);
  }
  void Give(RankId rank, const char* name, double ms, std::uint64_t count,
            std::int64_t iterations = 10) {
    auto window = std::make_shared<DeviceWindow>();
    window->first = Iteration(100);
    window->iterations = iterations;
    const Nanos total = Nanos::FromSeconds(ms * 1e-3 * static_cast<double>(count));
    window->sums.push_back({"kernel", name, count, total, total, 0});
    view_.device_windows[rank] = std::move(window);
  }
  void Slow(const char* name, double ms, std::uint64_t count) { Give(kSlow, name, ms, count); }
  std::optional<SlowKernel> Kernel(double excess) {
    const ExecutionGraph graph(view_, {}, suspicion_.onset, config_);
    return SlowKernelOf({view_, suspicion_, graph, config_, nullptr}, kSlow, excess);
  }
  std::optional<SlowLaunches> Launches(double excess) {
    const ExecutionGraph graph(view_, {Iteration(61), Iteration(62)}, suspicion_.onset, config_);
    return SlowLaunchesOf({view_, suspicion_, graph, config_, nullptr}, kSlow, excess);
  }

  JobView view_;
  Suspicion suspicion_;
  DiagnosisConfig config_;
};

TEST_F(KernelTest, NamesTheKernelThatTakesLongerThanOnPeers) {
  Slow("gemm", 33, 20);
  const auto kernel = Kernel(0.060);
  ASSERT_TRUE(kernel.has_value());
  EXPECT_EQ(kernel->name, "gemm");
  EXPECT_NEAR(kernel->seconds, 0.066, 1e-6);
  EXPECT_NEAR(kernel->peers, 0.006, 1e-6);
  EXPECT_NEAR(kernel->launches, 2, 1e-9);
  EXPECT_EQ(kernel->compared, 3u);
  EXPECT_EQ(kernel->profiler, 0);
}

TEST_F(KernelTest, TellsWhatTheRecordingItselfTook) {
  auto window = std::make_shared<DeviceWindow>();
  window->first = Iteration(100);
  window->iterations = 10;
  window->lasted = Nanos::FromSeconds(2);
  window->sums = {{"kernel", "gemm", 20, Nanos::FromSeconds(0.66), {}, 0},
                  {"cupti", "CUPTI: instrumenting", 4, Nanos::FromSeconds(0.3), {}, 0},
                  {"cupti", "CUPTI: handing buffers over", 1, Nanos::FromSeconds(0.1), {}, 0},
                  {"driver", "loading a function", 1, Nanos::FromSeconds(0.5), {}, 0}};
  view_.device_windows[kSlow] = std::move(window);
  const auto kernel = Kernel(0.060);
  ASSERT_TRUE(kernel.has_value());
  EXPECT_NEAR(kernel->profiler, 0.2, 1e-9) << "the driver would have taken its time anyhow";
}

TEST_F(KernelTest, SaysNothingOfWhatIsNotComparable) {
  EXPECT_FALSE(Kernel(0.060).has_value()) << "as on its peers";
  Slow("gemm", 33, 40);
  EXPECT_FALSE(Kernel(0.060).has_value()) << "launched more often: other work, not a slower kernel";
  Slow("attention", 33, 20);
  EXPECT_FALSE(Kernel(0.060).has_value()) << "no peer runs it";
  Slow("gemm", 33, 20);
  view_.device_windows.erase(RankId(0));
  view_.device_windows.erase(RankId(1));
  EXPECT_FALSE(Kernel(0.060).has_value()) << "one peer is none";
}

TEST_F(KernelTest, LaunchesThatWereUnderWayWhenAWindowClosedMakeNoDifference) {
  for (std::uint32_t rank = 0; rank < 4; ++rank) Give(RankId(rank), "gemm", 3, 10, 5);
  Give(kSlow, "gemm", 33, 8, 5);
  const auto kernel = Kernel(0.060);
  ASSERT_TRUE(kernel.has_value());
  EXPECT_NEAR(kernel->seconds, 0.066, 1e-6);
  EXPECT_NEAR(kernel->peers, 0.006, 1e-6);
  EXPECT_NEAR(kernel->launches, 2, 1e-9);
  Give(kSlow, "gemm", 33, 7, 5);
  EXPECT_FALSE(Kernel(0.060).has_value()) << "of more than an iteration";
  Give(kSlow, "gemm", 3, 8, 5);
  EXPECT_FALSE(Kernel(0.001).has_value()) << "fewer launches, each as long";
  for (std::uint32_t rank = 0; rank < 4; ++rank) Give(RankId(rank), "gemm", 3, 2, 1);
  Give(kSlow, "gemm", 33, 1, 1);
  EXPECT_FALSE(Kernel(0.020).has_value()) << "a window of one iteration could lack any number";
}

TEST_F(KernelTest, AWindowFromBeforeTheOnsetSaysNothing) {
  Slow("gemm", 33, 20);
  suspicion_.onset = Iteration(101);
  EXPECT_FALSE(Kernel(0.060).has_value());
}

TEST_F(KernelTest, ASlowdownThatDoesNotExplainTheExcessIsNotNamed) {
  Slow("gemm", 3.2, 20);
  EXPECT_FALSE(Kernel(0.060).has_value());
}

// An op an iteration; the host launched `launches` kernels before it, in `ms`.
CommOp Op(std::int64_t iteration, std::uint64_t launches, double ms) {
  CommOp op;
  op.group = GroupId(7);
  op.sequence = Sequence(static_cast<std::uint64_t>(iteration));
  op.kind = CollectiveKind::kAllReduce;
  op.iteration = Iteration(iteration);
  op.enter = MonoNs(1'000'000'000 + iteration * 100'000'000);
  op.end = MonoNs(op.enter.ns + 1'000'000);
  op.launches = launches;
  op.launching = Nanos::FromSeconds(ms * 1e-3);
  return op;
}

TEST_F(KernelTest, LaunchesAreComparedWithBefore) {
  for (std::int64_t i = 40; i < 63; ++i) {
    view_.rows[kSlow].ops.push_back(Op(i, 84, i < 60 ? 0.5 : 60));
    view_.rows[RankId(0)].ops.push_back(Op(i, 84, 0.5));
  }
  const auto launches = Launches(0.060);
  ASSERT_TRUE(launches.has_value());
  EXPECT_NEAR(launches->seconds, 0.060, 1e-6);
  EXPECT_NEAR(launches->before, 0.0005, 1e-6);
  EXPECT_NEAR(launches->launches, 84, 1e-9);
  EXPECT_FALSE(Launches(1.0).has_value()) << "not what the time went into";
}

}  // namespace
}  // namespace fathom::diagnosis
