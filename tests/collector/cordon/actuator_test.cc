// The actuator around one action: what it asks right before a node is changed.
#include "collector/cordon/actuator.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "tests/collector/cordon/fake_cluster.h"
#include "tests/collector/fake_clock.h"

namespace fathom::cordon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
  void Live(int looks = 5) {
    for (int look = 0; look < looks; ++look) {
      clock_.AdvanceSeconds(1);
      cluster_.Advance(clock_.Mono());
      actuator().Look();
    }
  }
  // Made with the first look, by what is set then.
  Actuator& actuator() {
    if (actuator_ == nullptr) actuator_ = std::make_unique<Actuator>(limits_, Ledger(), Around());
    return *actuator_;
  }
  Actuator::Parts Around() {
    return {[this](View& view) {
              view.verdicts = {verdict_};
              view.verdicts_known = advice_.ok();
              return advice_;
            },
            cluster_,
            [this](const Record& record) {
              if (disk_.ok()) log_.push_back(record);
              return disk_;
            },
            [this](const collector::Notice& notice) {
              told_.push_back(notice);
              if (while_telling) while_telling();
              return notice.title == deaf_to_ ? absl::UnavailableError("nobody hears")
                                              : absl::OkStatus();
            },
            clock_};
  }
  std::string ProblemsNow() { return absl::StrJoin(actuator().Problems(), "\n"); }
  std::vector<std::string> Kinds() const {
    std::vector<std::string> kinds;
    for (const Record& record : log_) kinds.emplace_back(ToString(record.kind));
    return kinds;
  }
  std::vector<std::string> Titles() const {
    std::vector<std::string> titles;
    for (const collector::Notice& notice : told_) titles.push_back(notice.title);
    return titles;
  }
  bool Wrote(RecordKind kind) const {
    return std::any_of(log_.begin(), log_.end(), [&](auto& each) { return each.kind == kind; });
  }

  Limits limits_;
  FakeCluster cluster_;
  collector::FakeClock clock_;
  VerdictFact verdict_;
  std::function<void()> while_telling;
  absl::Status advice_, disk_;
  std::string deaf_to_;  // notices of this title reach nobody
  std::vector<Record> log_;
  std::vector<collector::Notice> told_;
  std::unique_ptr<Actuator> actuator_;
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

TEST_F(ActuatorTest, ACollectorThatGoesSilentWhilePeopleAreToldStopsIt) {
  while_telling = [this] { advice_ = absl::UnavailableError("connection refused"); };
  Live();
  EXPECT_THAT(Kinds(), ElementsAre("declined"));
  EXPECT_THAT(log_[0].text, HasSubstr("connection refused"));
  EXPECT_EQ(cluster_.held, 0);
}

TEST_F(ActuatorTest, WhatCannotBeWrittenIsNotDoneUntilThereIsRoomAgain) {
  disk_ = absl::ResourceExhaustedError("no space left");
  Live();
  EXPECT_EQ(cluster_.held, 0);
  EXPECT_THAT(ProblemsNow(), HasSubstr("no space left"));
  disk_ = absl::OkStatus();
  Live(1);
  EXPECT_EQ(cluster_.held, 1);
  EXPECT_EQ(ProblemsNow(), "");
}

TEST_F(ActuatorTest, WhileTheLogCannotBeWrittenPeopleAreToldOnce) {
  disk_ = absl::ResourceExhaustedError("no space left");
  Live(50);
  EXPECT_THAT(Titles(), ElementsAre("FathomNodeActionBegins", "FathomCordonCannotWrite"));
  EXPECT_THAT(told_[1].summary, HasSubstr("no space left"));
  EXPECT_THAT(ProblemsNow(), HasSubstr("no space left")) << "the page says so all the time";
  verdict_.sentence = "slow, and 4 GPU-seconds later";
  Live(5);
  EXPECT_EQ(told_.size(), 2u) << "evidence that grows is no news";
  disk_ = absl::PermissionDeniedError("read-only file system");
  Live(5);
  ASSERT_EQ(told_.size(), 3u);
  EXPECT_THAT(told_[2].summary, HasSubstr("read-only"));
  clock_.AdvanceSeconds(HeardNotices::kAgain.Seconds());
  Live(5);
  EXPECT_EQ(told_.size(), 5u) << "both again";
  disk_ = absl::OkStatus();
  Live(2);
  EXPECT_THAT(Kinds(), ElementsAre("intended", "done"));
  ASSERT_EQ(told_.size(), 8u);
  EXPECT_EQ(told_[5].title, "FathomNodeActionBegins") << "right before the node is changed";
  EXPECT_EQ(told_[6].title, "FathomNodeHeld");
  EXPECT_EQ(told_[7].title, "FathomCordonCannotWrite");
  EXPECT_FALSE(told_[7].active());
}

TEST_F(ActuatorTest, OnceTheLogCanBeWrittenNothingBeginsOfWhichNobodyHears) {
  disk_ = absl::ResourceExhaustedError("no space left");
  Live(5);
  disk_ = absl::OkStatus();
  deaf_to_ = "FathomNodeActionBegins";
  Live(1);
  EXPECT_THAT(Kinds(), ElementsAre("intended", "failed"));
  EXPECT_EQ(cluster_.held, 0);
  EXPECT_THAT(ProblemsNow(), HasSubstr("nobody hears"));
}

TEST_F(ActuatorTest, WhatCouldBeWrittenIsToldEachTime) {
  limits_.min_spacing_s = 0;
  cluster_.fault = [] { return FakeCluster::Fault::kRefused; };
  Live(10);
  const std::vector<std::string> titles = Titles();
  const std::vector<std::string> kinds = Kinds();
  const auto begun = std::count(kinds.begin(), kinds.end(), "intended");
  EXPECT_GT(begun, 1) << "it is tried again";
  EXPECT_EQ(std::count(titles.begin(), titles.end(), "FathomNodeActionBegins"), begun);
}

TEST_F(ActuatorTest, NothingBeginsOfWhichNobodyCouldBeToldBefore) {
  deaf_to_ = "FathomNodeActionBegins";
  Live();
  EXPECT_THAT(Kinds(), IsEmpty());
  EXPECT_EQ(cluster_.held, 0);
  EXPECT_THAT(ProblemsNow(), HasSubstr("nobody hears"));
}

TEST_F(ActuatorTest, WhatIsDoneStandsEvenIfNobodyHearsOfIt) {
  deaf_to_ = "FathomNodeHeld";
  Live();
  EXPECT_THAT(Kinds(), ElementsAre("intended", "done"));
  EXPECT_EQ(cluster_.held, 1);
}

TEST_F(ActuatorTest, ARefusalHasChangedNothingAndAnswersThatAreLostAreSettledByALook) {
  const struct {
    FakeCluster::Fault fault;
    const char* counted;
    std::vector<std::string> kinds;
    int looks;
  } cases[] = {
      {FakeCluster::Fault::kRefused, "failed", {"intended", "failed"}, 1},
      {FakeCluster::Fault::kLostAfter, "unclear", {"intended", "done"}, 2},
      {FakeCluster::Fault::kLostBefore, "unclear", {"intended"}, 20},
      {FakeCluster::Fault::kLostBefore, "unclear", {"intended", "failed"}, 32},
      {FakeCluster::Fault::kLate, "unclear", {"intended"}, 19},
      {FakeCluster::Fault::kLate, "unclear", {"intended", "done"}, 22},
  };
  limits_.min_spacing_s = 1000;
  limits_.doubt_s = 30;
  for (const auto& each : cases) {
    actuator_.reset();
    log_.clear();
    cluster_.Free("n1");
    cluster_.fault = [&] { return each.fault; };
    for (int look = 0; look < 5 && log_.empty(); ++look) Live(1);
    Live(each.looks - 1);
    const std::string what =
        absl::StrCat("fault ", static_cast<int>(each.fault), ", look ", each.looks);
    EXPECT_EQ(Kinds(), each.kinds) << what;
    const Actuator::Counts counts = actuator().Stand().counts;
    EXPECT_TRUE(counts.contains({"auto", each.counted})) << what;
    EXPECT_EQ(actuator().Stand().held, each.kinds.back() == "failed" ? 0u : 1u) << what;
    cluster_.Advance(MonoNs(std::int64_t{1} << 62));  // nothing is on its way to the next case
  }
}

TEST_F(ActuatorTest, AnUndoFreesTheNodeUnderThePersonsName) {
  Live();
  const std::string id = ActionId(verdict_);
  ASSERT_TRUE(actuator().Undo(id, "ann").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(actuator().Undo(id, "bob"))) << "once";
  cluster_.fault = [] { return FakeCluster::Fault::kLostBefore; };
  Live(1);
  EXPECT_NE(cluster_.nodes["n1"].owner, "") << "the first try was lost";
  EXPECT_THAT(ProblemsNow(), HasSubstr("undo: "));
  cluster_.fault = [] { return FakeCluster::Fault::kNone; };
  Live(6);
  EXPECT_EQ(cluster_.nodes["n1"].owner, "");
  EXPECT_EQ(cluster_.held, 1) << "and it is left alone from then on";
  EXPECT_THAT(Kinds(), ElementsAre("intended", "done", "undo_intended", "undone"));
  EXPECT_EQ(log_.back().actor, "ann");
  EXPECT_FALSE(told_.back().active());
}

TEST_F(ActuatorTest, ANodeThatAPersonTookOverIsTheirs) {
  Live();
  cluster_.Drain("n1", "disk swap");
  Live(5);
  EXPECT_THAT(Kinds(), ElementsAre("intended", "done", "relinquished"));
  EXPECT_EQ(log_.back().after, "disk swap");
  EXPECT_EQ(cluster_.nodes["n1"].note, "disk swap");
  EXPECT_EQ(cluster_.on_foreign, 0);
  EXPECT_EQ(actuator().Stand().held, 0u);
}

TEST_F(ActuatorTest, WithoutAdviceOrNodesNothingIsDoneAndBothAreTold) {
  advice_ = absl::UnavailableError("the collector is away");
  cluster_.down = true;
  Live();
  EXPECT_THAT(actuator().Problems(),
              ElementsAre("the collector is away", "the cluster does not answer"));
  EXPECT_FALSE(actuator().Stand().last_look.known());
  advice_ = absl::OkStatus();
  Live();
  EXPECT_EQ(cluster_.held, 0) << "of which node nothing is known";
  EXPECT_FALSE(actuator().Stand().last_look.known());
  cluster_.down = false;
  Live();
  EXPECT_EQ(cluster_.held, 1);
  EXPECT_EQ(actuator().Stand().last_look, clock_.Wall());
  EXPECT_THAT(actuator().Problems(), IsEmpty());
}

TEST_F(ActuatorTest, AdviceTellsOnceWhatAPersonCanTypeAndDoesNothing) {
  limits_.groups[0].mode = Mode::kAdvise;
  Live();
  EXPECT_THAT(Kinds(), ElementsAre("advised"));
  EXPECT_EQ(cluster_.held, 0);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(told_[0].title, "FathomNodeAdvice");
  EXPECT_THAT(told_[0].description, HasSubstr("By hand: hold n1"));
  for (const auto& [name, value] : told_[0].labels) EXPECT_NE(value, "") << name;
}

TEST_F(ActuatorTest, OtherLimitsHoldFromTheNextLookOn) {
  limits_.groups[0].mode = Mode::kObserve;
  Live();
  EXPECT_THAT(Kinds(), ElementsAre("observed"));
  EXPECT_THAT(told_, IsEmpty()) << "nobody is bothered by what is only observed";
  limits_.groups[0].mode = Mode::kAuto;
  actuator().Use(limits_);
  Live(2);
  EXPECT_EQ(cluster_.held, 1);
}

TEST_F(ActuatorTest, CommandsThatFitNothingChangeNothing) {
  Live();
  const std::string id = ActionId(verdict_);
  EXPECT_TRUE(absl::IsNotFound(actuator().Approve("a0", "ann")));
  EXPECT_TRUE(absl::IsNotFound(actuator().Undo("", "ann")));
  EXPECT_TRUE(absl::IsFailedPrecondition(actuator().Approve(id, "ann"))) << "mode auto asks nobody";
  EXPECT_THAT(Kinds(), ElementsAre("intended", "done"));
  disk_ = absl::ResourceExhaustedError("no space left");
  EXPECT_TRUE(absl::IsResourceExhausted(actuator().Undo(id, "ann")));
  EXPECT_TRUE(absl::IsResourceExhausted(actuator().Command(RecordKind::kPaused, "upgrade", "ann")));
  EXPECT_EQ(actuator().Stand().paused, "");
}

}  // namespace
}  // namespace fathom::cordon
