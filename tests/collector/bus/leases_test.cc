#include "collector/bus/leases.h"

#include "tests/collector/bus/wires.h"
#include "tests/collector/fake_clock.h"

namespace fathom::collector {
namespace {

struct LeasesTest : testing::TestWithParam<std::string> {
  FakeClock clock;
  Wires wires{GetParam(), clock, Nanos::FromSeconds(4)};
  ClusterWires a, b;

  void SetUp() override {
    if (!wires.skips().empty()) GTEST_SKIP() << wires.skips();
    a = wires.Join("a");
    b = wires.Join("b");
    ASSERT_NE(b.leases, nullptr);
  }
  void Refresh() {
    ASSERT_TRUE(a.leases->Refresh().ok());
    ASSERT_TRUE(b.leases->Refresh().ok());
  }
};

TEST_P(LeasesTest, OneOfTwoHoldsAJob) {
  ASSERT_TRUE(a.leases->Open("a job/with any.name").ok());
  Refresh();
  EXPECT_EQ(b.leases->Jobs(), std::vector<std::string>{"a job/with any.name"});
  EXPECT_EQ(b.leases->HolderOf("a job/with any.name"), "");
  ASSERT_TRUE(a.leases->Take("a job/with any.name").ok());
  // Whoever has not heard of it yet is refused by the store.
  EXPECT_TRUE(absl::IsAlreadyExists(b.leases->Take("a job/with any.name").status()));
  Refresh();
  EXPECT_TRUE(absl::IsAlreadyExists(b.leases->Take("a job/with any.name").status()));
  EXPECT_EQ(b.leases->HolderOf("a job/with any.name"), "a");
}

TEST_P(LeasesTest, ALeaseThatIsRenewedStandsAndOneThatIsNotIsFree) {
  ASSERT_TRUE(a.leases->Open("j").ok());
  Refresh();
  const auto first = a.leases->Take("j");
  ASSERT_TRUE(first.ok());
  for (int i = 0; i < 5; ++i) {
    clock.AdvanceSeconds(3);
    ASSERT_TRUE(a.leases->Renew("j").ok());
    Refresh();
    EXPECT_EQ(b.leases->HolderOf("j"), "a");
  }
  clock.AdvanceSeconds(4.5);
  Refresh();
  EXPECT_EQ(b.leases->HolderOf("j"), "");
  const auto second = b.leases->Take("j");
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_GT(*second, *first);
  // The former holder, back from wherever it was, holds nothing.
  EXPECT_TRUE(absl::IsAborted(a.leases->Renew("j")));
  a.leases->Release("j");
  Refresh();
  EXPECT_EQ(a.leases->HolderOf("j"), "b");
}

TEST_P(LeasesTest, AHolderThatWasStartedAgainTakesItsOwnAndNobodyElseDoes) {
  ASSERT_TRUE(a.leases->Open("j").ok());
  Refresh();
  const auto first = a.leases->Take("j");
  ASSERT_TRUE(first.ok());
  const ClusterWires again = wires.Join("a");
  ASSERT_TRUE(again.leases->Refresh().ok());
  Refresh();
  EXPECT_TRUE(again.leases->IsMine("j"));
  EXPECT_FALSE(b.leases->IsMine("j"));
  EXPECT_TRUE(absl::IsAlreadyExists(b.leases->Take("j").status()));
  const auto second = again.leases->Take("j");
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_GT(*second, *first);
  // Whoever it was before holds nothing.
  EXPECT_TRUE(absl::IsAborted(a.leases->Renew("j")));
  clock.AdvanceSeconds(5);
  EXPECT_FALSE(again.leases->IsMine("j"));
}

TEST_P(LeasesTest, AReleasedLeaseIsFreeAtOnce) {
  ASSERT_TRUE(a.leases->Open("j").ok());
  Refresh();
  const auto first = a.leases->Take("j");
  a.leases->Release("j");
  Refresh();
  EXPECT_EQ(b.leases->HolderOf("j"), "");
  const auto second = b.leases->Take("j");
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_GT(*second, *first);
}

TEST_P(LeasesTest, AClosedJobIsNobodysToTakeUntilItIsOpenedAgain) {
  ASSERT_TRUE(a.leases->Open("j").ok());
  Refresh();
  ASSERT_TRUE(a.leases->Take("j").ok());
  ASSERT_TRUE(a.leases->Close("j").ok());
  Refresh();
  EXPECT_TRUE(b.leases->Jobs().empty());
  EXPECT_EQ(b.leases->HolderOf("j"), "a");
  clock.AdvanceSeconds(5);
  Refresh();
  EXPECT_FALSE(b.leases->Take("j").ok());
  ASSERT_TRUE(b.leases->Open("j").ok());
  Refresh();
  clock.AdvanceSeconds(5);
  Refresh();
  EXPECT_TRUE(b.leases->Take("j").ok());
  b.leases->Forget("j");
  Refresh();
  EXPECT_TRUE(a.leases->Jobs().empty());
  EXPECT_EQ(a.leases->HolderOf("j"), "");
}

INSTANTIATE_TEST_SUITE_P(Both, LeasesTest, testing::Values("memory", "nats"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace fathom::collector
