// The actuator around one action: what it asks right before a node is changed.
#include "collector/cordon/actuator.h"

#include <gtest/gtest.h>

#include "tests/collector/cordon/fake_cluster.h"
#include "tests/collector/fake_clock.h"

namespace fathom::cordon {
namespace {

class ActuatorTest : public ::testing::Test {
 protected:
  ActuatorTest() {
    limits_.groups[0].mode = Mode::kAuto;
    limits_.min_age_s = limits_.second_look_s = 0;
    limits_.max_ratio = 1;
    for (const char* name : {"n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"}) {
      cluster_.nodes[name] = {name, false, true, "", "", "", {"p"}};
    }
    verdict_ = {"v1",     "job", "established", "compute_slow", "rank",
                "rank 1", "n1",  "slow",        true,           ""};
  }

  // Looks until an action begins or is declined.
  void Live() {
    Actuator actuator(limits_, Ledger(),
                      {[this](View& view) {
                         view.verdicts = {verdict_};
                         view.verdicts_known = true;
                         return absl::OkStatus();
                       },
                       cluster_,
                       [this](const Record& record) {
                         log_.push_back(record);
                         return absl::OkStatus();
                       },
                       [this](const collector::Notice& notice) {
                         told_.push_back(notice);
                         if (while_telling) while_telling();
                         return absl::OkStatus();
                       },
                       clock_});
    for (int look = 0; look < 5; ++look) {
      clock_.Advance(Nanos(1'000'000'000));
      actuator.Look();
    }
  }
  bool Wrote(RecordKind kind) const {
    return std::any_of(log_.begin(), log_.end(), [&](auto& each) { return each.kind == kind; });
  }

  Limits limits_;
  FakeCluster cluster_;
  collector::FakeClock clock_;
  VerdictFact verdict_;
  std::function<void()> while_telling;
  std::vector<Record> log_;
  std::vector<collector::Notice> told_;
};

TEST_F(ActuatorTest, HoldsTheNodeOfAVerdictThatStands) {
  Live();
  EXPECT_TRUE(Wrote(RecordKind::kDone));
  EXPECT_NE(cluster_.nodes["n1"].owner, "");
}

TEST_F(ActuatorTest, ChangesNothingWhoseVerdictClosedWhilePeopleWereTold) {
  while_telling = [this] { verdict_.open = false; };
  Live();
  EXPECT_TRUE(Wrote(RecordKind::kDeclined));
  EXPECT_FALSE(Wrote(RecordKind::kIntended));
  EXPECT_EQ(cluster_.nodes["n1"].owner, "");
  ASSERT_EQ(told_.size(), 2u);  // that it begins, and that it is off
  EXPECT_NE(told_[1].description.find("the verdict is closed"), std::string::npos);
  EXPECT_FALSE(told_[1].active());
}

}  // namespace
}  // namespace fathom::cordon
