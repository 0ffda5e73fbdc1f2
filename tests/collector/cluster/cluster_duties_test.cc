#include "collector/serve/cluster_duties.h"

#include <gtest/gtest.h>

#include "collector/net/curl_transport.h"
#include "tests/collector/fake_clock.h"

namespace fathom::collector {
namespace {

Episode Standing() {
  Episode episode;
  episode.id = "v1";
  episode.job = "train";
  episode.opened = WallNs(100);
  episode.verdict.cause = diagnosis::Cause::kComputeSlow;
  episode.verdict.entity.ranks = {RankId(3)};
  return episode;
}

struct ClusterDutiesTest : testing::Test {
  FakeClock clock;
  JobTable jobs{clock, {}};
  VerdictLedger ledger{[](VerdictChange, const Episode&) {}};
  CurlTransport transport;
  Notifier notifier{{}, transport, clock};

  struct Owner {
    Owner(ClusterDutiesTest& of, const std::string& place)
        : store(Store::Open(place)),
          outbox(*store, true),
          duties(
              {*store, of.jobs, of.ledger, of.notifier, outbox, [](const Episode&) {}, of.clock}) {}
    std::unique_ptr<Store> store;
    KeptOutbox outbox;
    ClusterDuties duties;
  };
  // Nobody listens there.
  Owner away{*this, "postgresql://fathom@127.0.0.1:1/none"};
};

TEST_F(ClusterDutiesTest, WhatStandsInTheHistoryIsTakenUp) {
  Owner owner(*this, ":memory:");
  ASSERT_TRUE(owner.store->Save(Standing()).ok());
  EXPECT_TRUE(owner.duties.Taken("train", 5).ok());
  ASSERT_EQ(ledger.Of("train").size(), 1u);
  EXPECT_EQ(ledger.Of("train").front().id, "v1");
}

TEST_F(ClusterDutiesTest, AHistoryThatDoesNotAnswerIsWaitedForAndNotForEver) {
  EXPECT_TRUE(absl::IsUnavailable(away.duties.Taken("train", 5)));
  clock.Advance(ClusterDuties::kHistoryPatience - Nanos(1));
  EXPECT_TRUE(absl::IsUnavailable(away.duties.Taken("train", 6)));
  clock.Advance(Nanos(1));
  EXPECT_TRUE(away.duties.Taken("train", 7).ok());
}

TEST_F(ClusterDutiesTest, WhatWasWaitedForLongAgoIsWaitedForAnew) {
  EXPECT_TRUE(absl::IsUnavailable(away.duties.Taken("train", 5)));
  clock.Advance(Nanos(3 * ClusterDuties::kHistoryPatience.count));
  EXPECT_TRUE(absl::IsUnavailable(away.duties.Taken("train", 6)));
}

}  // namespace
}  // namespace fathom::collector
