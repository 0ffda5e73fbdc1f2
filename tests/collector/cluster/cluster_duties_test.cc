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

// What an owner leaves on the bus: its store was told of a verdict and of what is usual.
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
          duties({*store, of.jobs, of.ledger, of.notifier, outbox, [](const Episode&) {},
                  checkpoints}) {
      store->KeepCheckpoints(&checkpoints);
    }
    absl::Status Take(Leases::Token token, const v1::JobMemory* memory = nullptr) {
      v1::BusCheckpoint checkpoint;
      if (memory != nullptr) *checkpoint.mutable_memory() = *memory;
      return duties.Taken("train", token, memory == nullptr ? nullptr : &checkpoint);
    }
    JobCheckpoints checkpoints;
    std::unique_ptr<Store> store;
    KeptOutbox outbox;
    ClusterDuties duties;
  };
  // Nobody listens there.
  static constexpr char kAway[] = "postgresql://fathom@127.0.0.1:1/none";

  static Learnt Baseline(std::int64_t kept) {
    Learnt learnt;
    learnt.kept = WallNs(kept);
    learnt.past.push_back({Iteration(1), WallNs(50), Nanos(5), true});
    learnt.numbering = {{7, {{100, 3}, {105, 4}}}};
    return learnt;
  }
  // All that is kept of a job, as an owner whose history is `place` would hand it on.
  v1::JobMemory LeftBy(const std::string& place) {
    Owner former(*this, place);
    EXPECT_TRUE(former.Take(3).ok());
    former.store->Save(Standing()).IgnoreError();
    former.store->Save("train", Baseline(200)).IgnoreError();
    former.store->KeepAccount("train", WallNs(200), "account").IgnoreError();
    RunRecord run;
    run.id = "r1";
    run.job = "train";
    run.last_seen = WallNs(200);
    former.store->Save(run).IgnoreError();
    former.store->Keep({"slack", "v1", false, "told"}).IgnoreError();
    return former.checkpoints.TakeChanged("train", true).value_or(v1::JobMemory());
  }
};

TEST_F(ClusterDutiesTest, WhatStandsInTheHistoryIsTakenUp) {
  Owner owner(*this, ":memory:");
  ASSERT_TRUE(owner.store->Save(Standing()).ok());
  EXPECT_TRUE(owner.Take(5).ok());
  ASSERT_EQ(ledger.Of("train").size(), 1u);
  EXPECT_EQ(ledger.Of("train").front().id, "v1");
  // And is in the next checkpoint.
  EXPECT_EQ(owner.checkpoints.TakeChanged("train", true)->verdicts_size(), 1);
}

TEST_F(ClusterDutiesTest, WithoutTheHistoryWhatIsOnTheBusIsTakenUpAtOnce) {
  for (const std::string before : {":memory:", kAway}) {
    const v1::JobMemory memory = LeftBy(before);
    Owner owner(*this, kAway);
    ledger.Forget("train");
    ASSERT_TRUE(owner.Take(5, &memory).ok());
    ASSERT_EQ(ledger.Of("train").size(), 1u) << before;
    EXPECT_EQ(ledger.Of("train").front().id, "v1");
    EXPECT_EQ(ledger.Of("train").front().verdict.entity.ranks, std::vector<RankId>{RankId(3)});
    EXPECT_EQ(ledger.Of("train").front().opened, WallNs(100));
    ASSERT_TRUE(owner.store->FindLearnt("train"));
    EXPECT_EQ(owner.store->FindLearnt("train")->numbering, Baseline(0).numbering);
    EXPECT_EQ(owner.store->FindAccount("train"), "account");
    ASSERT_TRUE(owner.store->FindRun("r1"));
  }
}

TEST_F(ClusterDutiesTest, OfTwoNoticesTheOneThatWasSentCounts) {
  const v1::JobMemory memory = LeftBy(":memory:");
  for (const bool waits : {true, false}) {
    Owner owner(*this, ":memory:");
    ASSERT_TRUE(owner.store->Keep({"mail", "v2", true, "of another job"}).ok());
    ASSERT_TRUE(owner.store->Keep({"slack", "v1", waits, "in the history"}).ok());
    ASSERT_TRUE(owner.store->Fence("train", 5).ok());
    v1::JobMemory of_bus = memory;
    of_bus.mutable_told(0)->set_waits(!waits);
    owner.store->TakeUp("train", &of_bus);
    const std::vector<KeptNotice> kept = owner.store->KeptNotices();
    ASSERT_EQ(kept.size(), 2u);
    EXPECT_FALSE(kept[1].waits);
    EXPECT_EQ(kept[1].message, waits ? "told" : "in the history");
  }
}

TEST_F(ClusterDutiesTest, WithNeitherOfBothTheJobIsTakenAllTheSame) {
  Owner owner(*this, kAway);
  EXPECT_TRUE(owner.Take(5).ok());
  EXPECT_TRUE(ledger.Of("train").empty());
}

TEST_F(ClusterDutiesTest, OfTheHistoryAndTheBusTheNewerCounts) {
  const v1::JobMemory memory = LeftBy(":memory:");
  Owner owner(*this, ":memory:");
  Episode closed = Standing();
  closed.updated = closed.closed = WallNs(300);
  ASSERT_TRUE(owner.store->Save(closed).ok());
  ASSERT_TRUE(owner.store->Save("train", Baseline(300)).ok());
  ASSERT_TRUE(owner.store->KeepAccount("train", WallNs(100), "older").ok());
  ASSERT_TRUE(owner.Take(5, &memory).ok());
  EXPECT_TRUE(ledger.Of("train").empty()) << "the verdict is over";
  EXPECT_EQ(owner.store->FindLearnt("train")->kept, WallNs(300));
  EXPECT_EQ(owner.store->FindAccount("train"), "account");
  EXPECT_EQ(owner.checkpoints.Find("train", JobCheckpoints::Kind::kLearnt)->kept, WallNs(300));
}

// The former owner's history was away when the verdict closed.
TEST_F(ClusterDutiesTest, WhatTheHistoryLacksIsWrittenThere) {
  v1::JobMemory memory = LeftBy(":memory:");
  memory.mutable_verdicts(0)->set_updated_ns(400);
  memory.mutable_verdicts(0)->set_closed_ns(400);
  Owner owner(*this, ":memory:");
  ASSERT_TRUE(owner.store->Save(Standing()).ok());
  ASSERT_TRUE(owner.Take(5, &memory).ok());
  EXPECT_TRUE(ledger.Of("train").empty());
  EXPECT_EQ(owner.store->Find("v1")->closed, WallNs(400));
  EXPECT_EQ(owner.store->Find("v1")->updated, WallNs(400));
}

TEST_F(ClusterDutiesTest, RecordsThatAreDamagedOrOfAnotherJobAreLeftOut) {
  v1::JobMemory memory = LeftBy(":memory:");
  memory.mutable_learnt()->set_bytes("\x08");
  memory.mutable_verdicts(0)->mutable_verdict()->set_job("other");
  Owner owner(*this, ":memory:");
  ASSERT_TRUE(owner.store->Save("train", Baseline(10)).ok());
  ASSERT_TRUE(owner.Take(5, &memory).ok());
  EXPECT_EQ(owner.store->FindLearnt("train")->kept, WallNs(10));
  EXPECT_TRUE(ledger.Of("train").empty());
  EXPECT_TRUE(ledger.Of("other").empty());
}

TEST_F(ClusterDutiesTest, WhoLosesAJobKeepsNothingOfIt) {
  Owner owner(*this, ":memory:");
  ASSERT_TRUE(owner.Take(5).ok());
  owner.duties.Lost("train");
  ASSERT_TRUE(owner.store->Save(Standing()).ok());
  EXPECT_TRUE(owner.checkpoints.Jobs().empty());
}

}  // namespace
}  // namespace fathom::collector
