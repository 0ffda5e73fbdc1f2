#include "collector/bus/checkpoints.h"

#include "tests/collector/bus/wires.h"

namespace fathom::collector {
namespace {

struct CheckpointsTest : testing::TestWithParam<std::string> {
  SystemClock clock;
  Wires wires{GetParam(), clock, Nanos::FromSeconds(4)};
  ClusterWires a, b;

  void SetUp() override {
    if (!wires.skips().empty()) GTEST_SKIP() << wires.skips();
    a = wires.Join("a");
    b = wires.Join("b");
    ASSERT_NE(b.checkpoints, nullptr);
  }
};

TEST_P(CheckpointsTest, TheNewestIsThereForAll) {
  const std::string job = "a job/with any.name";
  EXPECT_TRUE(absl::IsNotFound(a.checkpoints->Get(job).status()));
  ASSERT_TRUE(a.checkpoints->Put(job, 5, "one").ok());
  ASSERT_TRUE(a.checkpoints->Put(job, 5, std::string("two\n\0", 5)).ok());
  EXPECT_EQ(b.checkpoints->Get(job).value(), std::string("two\n\0", 5));
  EXPECT_TRUE(absl::IsNotFound(b.checkpoints->Get("another").status()));
}

// It wrote last, so that it knows which revision is there: until the next owner has written.
TEST_P(CheckpointsTest, AFormerOwnerIsRefusedOnceTheNextHasWritten) {
  ASSERT_TRUE(a.checkpoints->Put("j", 5, "of a").ok());
  ASSERT_TRUE(b.checkpoints->Put("j", 9, "of b").ok());
  EXPECT_TRUE(absl::IsAborted(a.checkpoints->Put("j", 5, "late")));
  EXPECT_TRUE(absl::IsAborted(a.checkpoints->Put("j", 8, "late")));
  EXPECT_EQ(a.checkpoints->Get("j").value(), "of b");
  ASSERT_TRUE(b.checkpoints->Put("j", 9, "again").ok());
  ASSERT_TRUE(a.checkpoints->Put("j", 12, "owner again").ok());
  EXPECT_EQ(b.checkpoints->Get("j").value(), "owner again");
}

TEST_P(CheckpointsTest, WhatIsForgottenIsGoneAndAnotherBeginsAnew) {
  ASSERT_TRUE(a.checkpoints->Put("j", 5, "of a").ok());
  b.checkpoints->Forget("j");
  EXPECT_TRUE(absl::IsNotFound(a.checkpoints->Get("j").status()));
  ASSERT_TRUE(a.checkpoints->Put("j", 3, "anew").ok());
  EXPECT_EQ(b.checkpoints->Get("j").value(), "anew");
}

TEST_P(CheckpointsTest, OneOfSomeMegabytesComesBackAsItWas) {
  const std::string large(std::size_t{4} << 20, 'x');
  ASSERT_TRUE(a.checkpoints->Put("j", 5, large).ok());
  EXPECT_EQ(b.checkpoints->Get("j").value(), large);
}

INSTANTIATE_TEST_SUITE_P(Both, CheckpointsTest, testing::Values("memory", "nats"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace fathom::collector
