// Single decisions, one reason at a time; the histories test checks them together.
#include "collector/cordon/policy/policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace fathom::cordon {
namespace {

class PolicyTest : public ::testing::Test {
 protected:
  PolicyTest() {
    limits_.groups[0].mode = Mode::kAuto;
    limits_.min_age_s = 10;
    limits_.second_look_s = 5;
    limits_.max_ratio = 1;
    for (int i = 1; i <= 10; ++i) {
      const std::string name = "n" + std::to_string(i);
      view_.nodes[name] = {name, false, true, "", "", "rack" + std::to_string(i), {"p"}};
    }
    view_.verdicts.push_back(
        {"v1", "job", "established", "compute_slow", "rank", "rank 1", "n1", "slow", true, ""});
    view_.verdicts_known = view_.nodes_known = true;
  }

  // Looks twice, 11 s apart; what the second look begins. Steps that only write are folded.
  std::string Begun() {
    Policy policy(limits_);
    std::string node;
    for (int look = 0; look < 4; ++look) {
      now_.wall = now_.wall + Nanos(11'000'000'000);
      now_.mono = now_.mono + Nanos(11'000'000'000);
      for (const Step& step : policy.Next(ledger_, view_, now_)) {
        if (step.change == Step::Change::kHold) return step.record.node;
        if (step.write) ledger_.Fold(step.record);
        if (step.record.kind == RecordKind::kDeclined) declined_.push_back(step.record.text);
      }
    }
    hindrance_ = policy.Outlooks(ledger_, view_, now_.wall).at(0).hindrance;
    return "";
  }
  VerdictFact& verdict() { return view_.verdicts[0]; }

  Limits limits_;
  Ledger ledger_;
  View view_;
  Moment now_{WallNs(1'700'000'000'000'000'000), MonoNs(1'000'000'000'000)};
  std::string hindrance_;
  std::vector<std::string> declined_;
};

TEST_F(PolicyTest, BeginsWhenNothingStandsInTheWay) { EXPECT_EQ(Begun(), "n1"); }

TEST_F(PolicyTest, WhereAProbeIsRequiredAutoWaitsForOneThatConfirms) {
  limits_.require_probe = true;
  EXPECT_EQ(Begun(), "");
  EXPECT_NE(hindrance_.find("require_probe"), std::string::npos);
  verdict().proof = "confirmed";
  EXPECT_EQ(Begun(), "n1");
}

TEST_F(PolicyTest, APersonNeedsNoProbe) {
  limits_.require_probe = true;
  limits_.groups[0].mode = Mode::kApprove;
  EXPECT_EQ(Begun(), "");
  EXPECT_EQ(hindrance_, "waits for a person: fathom action approve");
}

TEST_F(PolicyTest, WhatAProbeRefutesLeadsToNothing) {
  verdict().proof = "refuted";
  EXPECT_EQ(Begun(), "");
  EXPECT_EQ(declined_.at(0), "a probe of the node speaks against it");
}

TEST_F(PolicyTest, NothingOnAVerdictThatCannotBeTrustedAndTheReasonIsWrittenOnce) {
  struct Case {
    std::function<void(VerdictFact&)> spoil;
    const char* why;
  };
  const Case cases[] = {
      {[](VerdictFact& v) { v.job_runs = false; }, "not known to run"},
      {[](VerdictFact& v) { v.authenticated = false; }, "whose they are"},
      {[](VerdictFact& v) { v.unseen_s = 121; }, "more than fresh_s, 120 s"},
      {[](VerdictFact& v) { v.unseen_s = std::numeric_limits<double>::infinity(); }, "fresh_s"},
      {[](VerdictFact& v) { v.unseen_s = std::nan(""); }, "fresh_s"},
  };
  const VerdictFact sound = verdict();
  for (const Case& each : cases) {
    verdict() = sound;
    each.spoil(verdict());
    declined_.clear();
    ledger_ = Ledger();
    EXPECT_EQ(Begun(), "") << each.why;
    EXPECT_NE(hindrance_.find(each.why), std::string::npos) << hindrance_;
    ASSERT_EQ(declined_.size(), 1u) << each.why;
    EXPECT_NE(declined_[0].find(each.why), std::string::npos) << declined_[0];
  }
}

TEST_F(PolicyTest, WhatWasDeclinedBeginsOnceItCanBeTrusted) {
  verdict().unseen_s = 500;
  EXPECT_EQ(Begun(), "");
  verdict().unseen_s = 3;
  EXPECT_EQ(Begun(), "n1");
}

TEST_F(PolicyTest, TellsRightBeforeWhetherItIsStillWanted) {
  Record intended;
  intended.action = ActionId(verdict());
  const Policy policy(limits_);
  EXPECT_EQ(policy.WhyNotAnyMore(intended, view_), "");
  verdict().open = false;
  EXPECT_EQ(policy.WhyNotAnyMore(intended, view_), "the verdict is closed");
  view_.verdicts.clear();
  EXPECT_NE(policy.WhyNotAnyMore(intended, view_), "");
  view_.verdicts_known = false;
  EXPECT_NE(policy.WhyNotAnyMore(intended, view_), "");
}

TEST_F(PolicyTest, OnlyEstablishedOnesAboutANode) {
  verdict().grade = "supported";
  EXPECT_EQ(Begun(), "");
  verdict().grade = "established";
  for (const char* cause : {"link_slow", "imbalance", "communication_slow", "gc", "regression"}) {
    verdict().cause = cause;
    EXPECT_EQ(Begun(), "") << cause;
  }
  verdict().cause = "compute_slow";
  for (const char* entity : {"link", "switch", "group", "stage", "job"}) {
    verdict().entity_type = entity;
    EXPECT_EQ(Begun(), "") << entity;
  }
}

TEST_F(PolicyTest, NotWhileTheJobHasANetworkVerdict) {
  view_.verdicts.push_back(
      {"v2", "job", "established", "link_slow", "link", "link", "", "slow link", true, ""});
  EXPECT_EQ(Begun(), "");
  EXPECT_NE(hindrance_.find("link_slow in the same job"), std::string::npos) << hindrance_;
}

TEST_F(PolicyTest, EnoughNodesOfTheJobStay) {
  limits_.min_available_per_partition = 0;
  view_.job_nodes["job"] = {"n1", "n2", "n3", "n4"};
  view_.nodes["n2"].withheld = true;
  EXPECT_EQ(Begun(), "n1");  // two of four stay
  view_.nodes["n3"].healthy = false;
  EXPECT_EQ(Begun(), "");
  EXPECT_NE(hindrance_.find("job job has 2 of 4 nodes available"), std::string::npos) << hindrance_;
}

TEST_F(PolicyTest, NotWhenTwoSuspectsShareARack) {
  view_.nodes["n1"].rack = view_.nodes["n2"].rack = "rack1";
  view_.verdicts.push_back(
      {"v2", "other", "established", "host_slow", "host", "host", "n2", "slow", true, ""});
  EXPECT_EQ(Begun(), "");
  EXPECT_NE(hindrance_.find("share rack1"), std::string::npos) << hindrance_;
}

TEST_F(PolicyTest, SomebodyElsesNodeIsLeftAlone) {
  view_.nodes["n1"].withheld = true;
  view_.nodes["n1"].note = "ops: disk";
  EXPECT_EQ(Begun(), "");
  EXPECT_NE(hindrance_.find("ops: disk"), std::string::npos);
}

TEST_F(PolicyTest, AnotherInstancesHoldsCount) {
  limits_.max_nodes = 1;
  view_.nodes["n5"].withheld = true;
  view_.nodes["n5"].owner = "afromelsewhere";
  EXPECT_EQ(Begun(), "");
  EXPECT_NE(hindrance_.find("max_nodes"), std::string::npos) << hindrance_;
}

TEST_F(PolicyTest, RatioIsRoundedDown) {
  limits_.max_ratio = 0.05;
  EXPECT_EQ(Begun(), "");
  EXPECT_NE(hindrance_.find("max_ratio allows 0 of 10"), std::string::npos) << hindrance_;
}

TEST_F(PolicyTest, MassSuspicionTripsTheBreaker) {
  for (int i = 2; i <= 4; ++i) {
    view_.verdicts.push_back({"v" + std::to_string(i), "job" + std::to_string(i), "established",
                              "compute_slow", "rank", "rank", "n" + std::to_string(i), "slow", true,
                              ""});
  }
  EXPECT_EQ(Begun(), "");
  EXPECT_EQ(ledger_.tripped(), "4 nodes are suspect at once");
}

TEST_F(PolicyTest, ApproveWaitsForAPersonAndTheApprovalExpires) {
  limits_.groups[0].mode = Mode::kApprove;
  limits_.approval_ttl_s = 5;
  EXPECT_EQ(Begun(), "");
  const std::string id = ActionId(verdict());
  const Policy policy(limits_);
  EXPECT_TRUE(absl::IsNotFound(policy.Approve(ledger_, "a0", "ann", now_.wall).status()));
  const auto approval = policy.Approve(ledger_, id, "ann", now_.wall);
  ASSERT_TRUE(approval.ok());
  ledger_.Fold(*approval);
  EXPECT_EQ(ledger_.Find(id)->phase, Phase::kApproved);
  EXPECT_EQ(Begun(), "") << "the second look comes after the approval has expired";
  EXPECT_EQ(ledger_.Find(id)->phase, Phase::kAdvised);
}

TEST_F(PolicyTest, AJumpOfTheClockStopsEverything) {
  Policy policy(limits_);
  policy.Next(ledger_, view_, now_);
  now_.wall = now_.wall + Nanos(7'200'000'000'000);
  now_.mono = now_.mono + Nanos(1'000'000'000);
  const auto steps = policy.Next(ledger_, view_, now_);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].record.kind, RecordKind::kTripped);
}

TEST_F(PolicyTest, TheActionOfAVerdictHasOneIdForEver) {
  EXPECT_EQ(ActionId(verdict()), ActionId(verdict()));
  VerdictFact other = verdict();
  other.id = "v2";
  EXPECT_NE(ActionId(verdict()), ActionId(other));
}

TEST_F(PolicyTest, WhatFailedThreeTimesIsTriedAgainAfterAResetAndThePlanSaysSo) {
  limits_.breaker_failures = 100;
  Record record;
  record.action = ActionId(verdict());
  record.node = "n1";
  record.time = WallNs(1'600'000'000'000'000'000);
  record.kind = RecordKind::kFailed;
  for (int i = 0; i < Policy::kMaxTries; ++i) ledger_.Fold(record);
  EXPECT_EQ(Begun(), "");
  EXPECT_EQ(hindrance_, "it failed 3 times; it is tried again after fathom action reset");
  Record reset;
  reset.kind = RecordKind::kReset;
  reset.time = now_.wall;
  ledger_.Fold(reset);
  EXPECT_EQ(Begun(), "n1");
}

TEST_F(PolicyTest, ARefusalIsNotToldAsSilence) {
  view_.nodes_known = false;
  EXPECT_EQ(Begun(), "");
  EXPECT_EQ(hindrance_, "the back-end does not answer");
  view_.nodes_why = "HTTP status 403: forbidden";
  EXPECT_EQ(Begun(), "");
  EXPECT_EQ(hindrance_, "the back-end gives no answer: HTTP status 403: forbidden");
}

}  // namespace
}  // namespace fathom::cordon
