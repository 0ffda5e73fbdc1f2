// What stands in the way of an action, one brake at a time and at its exact limit.
#include "collector/cordon/policy/brakes.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace fathom::cordon {
namespace {

class BrakesTest : public ::testing::Test {
 protected:
  BrakesTest() {
    limits_.max_ratio = 1;
    limits_.max_nodes = 1000;
    limits_.min_available_per_partition = limits_.min_available_per_job = 0;
    for (int i = 1; i <= 10; ++i) {
      const std::string name = "n" + std::to_string(i);
      view_.nodes[name] = {name, false, true, "", "", "", {"p"}};
    }
    view_.verdicts = {Slow("v1", "job", "n1")};
    view_.verdicts_known = view_.nodes_known = true;
  }

  static VerdictFact Slow(const std::string& id, const std::string& job, const std::string& node) {
    return {id, job, "established", "compute_slow", "rank", "rank 1", node, "slow", true, ""};
  }
  WallNs Ago(double s) const { return now_ - Nanos::FromSeconds(s); }
  void Write(RecordKind kind, WallNs time, const std::string& action = "",
             const std::string& node = "", const std::string& actor = kOwnName,
             const std::string& text = "") {
    Record record;
    record.kind = kind;
    record.time = time;
    record.action = action;
    record.node = node;
    record.actor = actor;
    record.text = text;
    ledger_.Fold(record);
  }
  // An action that began then and was undone by fathom: it counts in windows and holds nothing.
  void Attempt(WallNs time, const std::string& id) {
    for (const RecordKind kind : {RecordKind::kIntended, RecordKind::kDone,
                                  RecordKind::kUndoIntended, RecordKind::kUndone}) {
      Write(kind, time, id, "n9");
    }
  }
  std::string Why() const {
    return WhyNotNow(view_.verdicts[0], Scene{limits_, ledger_, view_, now_});
  }

  Limits limits_;
  Ledger ledger_;
  View view_;
  const WallNs now_{1'700'000'000'000'000'000};
};

TEST_F(BrakesTest, NothingStandsInTheWayOfASoundVerdict) { EXPECT_EQ(Why(), ""); }

TEST_F(BrakesTest, APauseHoldsUntilSomebodyResumesAndSaysWhoseItIs) {
  Write(RecordKind::kPaused, Ago(5), "", "", "ann", "ann: maintenance");
  EXPECT_EQ(Why(), "paused: ann: maintenance");
  Write(RecordKind::kReset, Ago(4));
  EXPECT_EQ(Why(), "paused: ann: maintenance") << "a reset is of the breaker alone";
  Write(RecordKind::kResumed, Ago(3));
  EXPECT_EQ(Why(), "");
  Write(RecordKind::kPaused, Ago(2));
  EXPECT_EQ(Why(), "paused: no reason given");
}

TEST_F(BrakesTest, TheBreakerHoldsUntilAReset) {
  Write(RecordKind::kTripped, Ago(5), "", "", kOwnName, "5 nodes are suspect at once");
  EXPECT_EQ(Why(), "the breaker has tripped: 5 nodes are suspect at once");
  Write(RecordKind::kResumed, Ago(4));
  EXPECT_NE(Why(), "") << "resuming is not resetting";
  Write(RecordKind::kReset, Ago(3));
  EXPECT_EQ(Why(), "");
}

TEST_F(BrakesTest, AClockBehindTheLogStopsUntilAResetSaysThatItIsRight) {
  Write(RecordKind::kAdvised, now_ + Nanos(1), "a0", "n2");
  EXPECT_EQ(Why(), "the clock is behind the audit log");
  Write(RecordKind::kReset, now_);
  EXPECT_EQ(Why(), "");
}

TEST_F(BrakesTest, NothingBeginsWhileItIsNotKnownWhetherTheLastWasDone) {
  limits_.min_spacing_s = 0;
  Write(RecordKind::kIntended, Ago(10), "a0", "n2");
  EXPECT_EQ(Why(), "it is not known yet whether a0 was done");
  Write(RecordKind::kDone, Ago(9), "a0", "n2");
  EXPECT_EQ(Why(), "");
}

TEST_F(BrakesTest, ANodeThatIsNotThereOrDownIsLeftAlone) {
  view_.nodes["n1"].healthy = false;
  EXPECT_EQ(Why(), "n1 is down");
  view_.nodes.erase("n1");
  EXPECT_EQ(Why(), "the back-end knows no node n1");
}

TEST_F(BrakesTest, AfterAPersonsUndoANodeIsLeftAloneForTheCoolOff) {
  limits_.override_cooloff_s = 100;
  Write(RecordKind::kDone, Ago(200), "a0", "n1");
  Write(RecordKind::kUndone, Ago(99.9), "a0", "n1", "ann");
  EXPECT_EQ(Why(), "a person undid an action on n1 not long ago");
  ledger_ = Ledger();
  Write(RecordKind::kUndone, Ago(100), "a0", "n1", "ann");
  EXPECT_EQ(Why(), "");
  ledger_ = Ledger();
  Write(RecordKind::kUndone, Ago(1), "a0", "n1");
  EXPECT_EQ(Why(), "") << "what fathom let go by itself is no override";
  Write(RecordKind::kRelinquished, Ago(1), "a0", "n1");
  EXPECT_NE(Why(), "") << "a node that somebody changed is";
  view_.verdicts[0].node = "n2";
  EXPECT_EQ(Why(), "") << "another node is not";
}

TEST_F(BrakesTest, ActionsOfTheWindowAreCountedToItsVeryEnd) {
  limits_.max_per_window = 2;
  limits_.window_s = 3600;
  limits_.min_spacing_s = 0;
  Attempt(Ago(3600), "a0");
  Attempt(Ago(3599), "a1");
  EXPECT_EQ(Why(), "") << "the first is out of it";
  Attempt(Ago(10), "a2");
  EXPECT_EQ(Why(), "2 actions in the last 3600 s; max_per_window is 2");
}

TEST_F(BrakesTest, BetweenTwoActionsLiesTheSpacing) {
  limits_.min_spacing_s = 300;
  Attempt(Ago(299.5), "a0");
  EXPECT_EQ(Why(), "the last action is less than 300 s ago");
  ledger_ = Ledger();
  Attempt(Ago(300), "a0");
  EXPECT_EQ(Why(), "");
}

TEST_F(BrakesTest, AHoldThatIsInTheLogAndOnTheNodeCountsOnce) {
  limits_.max_nodes = 2;
  limits_.min_spacing_s = 0;
  Write(RecordKind::kDone, Ago(50), "a2", "n2");
  view_.nodes["n2"].withheld = true;
  view_.nodes["n2"].owner = "a2";
  EXPECT_EQ(HeldNodes(ledger_, view_).size(), 1u);
  EXPECT_EQ(Why(), "");
  view_.nodes["n3"].owner = "aofanotherinstance";
  EXPECT_EQ(Why(), "2 nodes are held already; max_nodes is 2");
}

TEST_F(BrakesTest, TheRatioCountsTheOneThatWouldCome) {
  limits_.max_ratio = 0.2;  // two of ten
  view_.nodes["n2"].owner = "a2";
  EXPECT_EQ(Why(), "");
  view_.nodes["n3"].owner = "a3";
  EXPECT_EQ(Why(), "2 nodes are held already; max_ratio allows 2 of 10");
}

TEST_F(BrakesTest, EveryPartitionOfTheNodeKeepsItsShare) {
  limits_.min_available_per_partition = 0.8;
  EXPECT_EQ(Why(), "") << "9 of 10 stay, 8 are needed";
  view_.nodes["n2"].withheld = true;
  EXPECT_EQ(Why(), "") << "8 of 10 stay";
  view_.nodes["n3"].healthy = false;
  EXPECT_EQ(Why(),
            "partition p has 8 of 10 nodes available and needs a share of 0.8 after the action");
  view_.nodes["n2"].withheld = false;
  for (const char* node : {"n1", "n4"}) view_.nodes[node].partitions = {"p", "small"};
  EXPECT_EQ(Why(),
            "partition small has 2 of 2 nodes available and needs a share of 0.8 after the action");
}

TEST_F(BrakesTest, ANodeOfAJobThatTheBackEndDoesNotKnowIsNoneThatStays) {
  limits_.min_available_per_job = 0.5;
  view_.job_nodes["job"] = {"n1"};
  EXPECT_EQ(Why(), "") << "a job of one node has none to keep";
  view_.job_nodes["job"] = {"n1", "n2", "elsewhere"};
  EXPECT_EQ(Why(), "job job has 2 of 3 nodes available and needs a share of 0.5 after the action");
  view_.job_nodes["job"] = {"n2", "n3"};
  EXPECT_EQ(Why(), "") << "the node is none of its";
}

TEST_F(BrakesTest, AnotherVerdictOfTheSameJobSpeaksAgainstItWhileItIsOpen) {
  view_.verdicts.push_back(Slow("v2", "job", "n2"));
  EXPECT_EQ(Why(), "verdict v2 names another node of the same job, n2");
  view_.verdicts[1].grade = "supported";
  EXPECT_EQ(Why(), "");
  view_.verdicts[1].grade = "established";
  view_.verdicts[1].open = false;
  EXPECT_EQ(Why(), "");
  view_.verdicts[1] = Slow("v2", "other", "n2");
  EXPECT_EQ(Why(), "");
  view_.verdicts[1] = Slow("v2", "job", "n1");
  EXPECT_EQ(Why(), "") << "two verdicts of one node agree";
}

TEST_F(BrakesTest, HeldAndSuspectNodesBehindOneRackCountTogether) {
  for (const char* node : {"n1", "n2", "n3"}) view_.nodes[node].rack = "rack7";
  view_.nodes["n2"].owner = "a2";
  EXPECT_EQ(Why(), "2 suspect or held nodes share rack7: it may be the cause");
  limits_.max_per_rack = 2;
  EXPECT_EQ(Why(), "");
  view_.verdicts.push_back(Slow("v2", "other", "n3"));
  EXPECT_EQ(Why(), "3 suspect or held nodes share rack7: it may be the cause");
  view_.verdicts[1].job_runs = false;
  EXPECT_EQ(Why(), "") << "of a job that has ended nobody is suspect";
}

}  // namespace
}  // namespace fathom::cordon
