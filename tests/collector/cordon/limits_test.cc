// Settings that are refused, each by its name; which group a node is of; what was seen how long.
#include "collector/cordon/policy/limits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "collector/cordon/policy/sightings.h"

namespace fathom::cordon {
namespace {

TEST(LimitsTest, OutOfTheBoxIsSoundAndDoesNothing) {
  const Limits limits;
  EXPECT_TRUE(Validate(limits).ok());
  ASSERT_NE(limits.GroupOf("anything"), nullptr);
  EXPECT_EQ(limits.GroupOf("anything")->mode, Mode::kObserve);
  EXPECT_FALSE(limits.auto_undo);
}

TEST(LimitsTest, WhatIsOutOfRangeIsRefusedByItsName) {
  struct Case {
    std::function<void(Limits&)> spoil;
    const char* named;
  };
  const Case cases[] = {
      {[](Limits& l) { l.min_age_s = -1; }, "min_age_s"},
      {[](Limits& l) { l.second_look_s = -0.1; }, "second_look_s"},
      {[](Limits& l) { l.sight_gap_s = 0.9; }, "sight_gap_s"},
      {[](Limits& l) { l.sight_gap_s = 3601; }, "sight_gap_s"},
      {[](Limits& l) { l.fresh_s = 0; }, "fresh_s"},
      {[](Limits& l) { l.max_nodes = -1; }, "max_nodes"},
      {[](Limits& l) { l.max_nodes = 1001; }, "max_nodes"},
      {[](Limits& l) { l.max_ratio = 1.01; }, "max_ratio"},
      {[](Limits& l) { l.max_ratio = std::nan(""); }, "max_ratio"},
      {[](Limits& l) { l.max_per_window = -1; }, "max_per_window"},
      {[](Limits& l) { l.window_s = 0; }, "window_s"},
      {[](Limits& l) { l.window_s = HUGE_VAL; }, "window_s"},
      {[](Limits& l) { l.min_spacing_s = -1; }, "min_spacing_s"},
      {[](Limits& l) { l.min_available_per_partition = 80; }, "min_available_per_partition"},
      {[](Limits& l) { l.min_available_per_job = -0.5; }, "min_available_per_job"},
      {[](Limits& l) { l.max_per_rack = 0; }, "max_per_rack"},
      {[](Limits& l) { l.approval_ttl_s = 0; }, "approval_ttl_s"},
      {[](Limits& l) { l.override_cooloff_s = -1; }, "override_cooloff_s"},
      {[](Limits& l) { l.doubt_s = 0; }, "doubt_s"},
      {[](Limits& l) { l.breaker_suspects = 1; }, "breaker_suspects"},
      {[](Limits& l) { l.breaker_failures = 0; }, "breaker_failures"},
      {[](Limits& l) { l.clock_jump_s = 0; }, "clock_jump_s"},
      {[](Limits& l) { l.undo_delay_s = -1; }, "undo_delay_s"},
      {[](Limits& l) { l.groups.clear(); }, "groups"},
      {[](Limits& l) { l.groups[0].name.clear(); }, "groups"},
      {[](Limits& l) { l.groups[0].patterns.clear(); }, "groups: all"},
      {[](Limits& l) { l.causes = {"link_slow"}; }, "causes: 'link_slow'"},
      {[](Limits& l) {
         l.causes = {"compute_slow", ""};
       },
       "causes"},
  };
  for (const Case& each : cases) {
    Limits limits;
    each.spoil(limits);
    const absl::Status status = Validate(limits);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << each.named;
    EXPECT_TRUE(std::string(status.message()).starts_with(each.named)) << status.message();
  }
}

TEST(LimitsTest, TheFirstGroupThatANodeFitsIsItsOwn) {
  Limits limits;
  limits.groups = {{"login", {"login?", "head"}, Mode::kObserve},
                   {"gpu", {"gpu-[0-9]*"}, Mode::kAuto},
                   {"rest", {"*-9*"}, Mode::kAdvise}};
  const auto name = [&](const char* node) {
    const NodeGroup* group = limits.GroupOf(node);
    return group == nullptr ? std::string("none") : group->name;
  };
  EXPECT_EQ(name("login1"), "login");
  EXPECT_EQ(name("login12"), "none") << "a ? is one letter";
  EXPECT_EQ(name("head"), "login");
  EXPECT_EQ(name("header"), "none");
  EXPECT_EQ(name("gpu-9"), "gpu") << "the first, not the last";
  EXPECT_EQ(name("cpu-91"), "rest");
  EXPECT_EQ(name("GPU-1"), "none") << "names are not folded";
  EXPECT_EQ(name(""), "none");
}

TEST(LimitsTest, ModesAreReadByTheirExactNames) {
  Mode mode = Mode::kAdvise;
  for (const char* text : {"", "Auto", "auto ", "automatic", "0"}) {
    EXPECT_FALSE(ParseMode(text, mode)) << text;
    EXPECT_EQ(mode, Mode::kAdvise);
  }
  for (const Mode each : {Mode::kObserve, Mode::kAdvise, Mode::kApprove, Mode::kAuto}) {
    ASSERT_TRUE(ParseMode(ToString(each), mode));
    EXPECT_EQ(mode, each);
  }
}

class SightingsTest : public ::testing::Test {
 protected:
  SightingsTest() {
    limits_.min_age_s = 100;
    limits_.second_look_s = 30;
    limits_.sight_gap_s = 60;
    verdict_ = {"v1", "job", "established", "compute_slow", "rank", "rank 1", "n1", "", true, ""};
  }
  void See(std::int64_t second, bool there = true) {
    now_ = MonoNs(second * 1'000'000'000);
    View view;
    view.verdicts_known = true;
    if (there) view.verdicts = {verdict_};
    sightings_.Look(view, limits_, now_);
  }
  bool Confirmed() const { return sightings_.Confirmed(verdict_, limits_, now_); }

  Limits limits_;
  VerdictFact verdict_;
  Sightings sightings_;
  MonoNs now_;
};

TEST_F(SightingsTest, OneIsConfirmedOnceItWasSeenWithoutAGapForItsAge) {
  See(1);
  EXPECT_FALSE(Confirmed());
  See(60);
  EXPECT_FALSE(Confirmed());
  See(100);
  EXPECT_FALSE(Confirmed()) << "99 s";
  See(101);
  EXPECT_TRUE(Confirmed());
}

TEST_F(SightingsTest, AGapBeginsItsAgeAnew) {
  for (const int second : {1, 61, 121}) See(second);
  EXPECT_TRUE(Confirmed()) << "60 s are no gap";
  See(182);
  EXPECT_FALSE(Confirmed()) << "61 s are";
  See(200, false);
  See(201);
  EXPECT_FALSE(Confirmed()) << "gone in between";
}

TEST_F(SightingsTest, OneThatMovesToAnotherNodeOrLosesItsGradeIsSeenAnew) {
  for (const int second : {1, 61, 121}) See(second);
  verdict_.node = "n2";
  See(122);
  EXPECT_FALSE(Confirmed());
  for (const int second : {180, 222}) See(second);
  EXPECT_TRUE(Confirmed());
  verdict_.grade = "supported";
  See(223);
  verdict_.grade = "established";
  See(224);
  EXPECT_FALSE(Confirmed());
}

TEST_F(SightingsTest, TwoLooksLieApartEvenWithoutAnAge) {
  limits_.min_age_s = 0;
  See(1);
  See(30);
  EXPECT_FALSE(Confirmed()) << "29 s apart";
  See(31);
  EXPECT_TRUE(Confirmed());
}

TEST_F(SightingsTest, AVerdictThatFathomTookBackIsToldApartFromAJobThatRecovered) {
  verdict_.open = false;
  for (const char* why : {"recovered", "the job ended", "", "was superseded"}) {
    verdict_.closed_because = why;
    EXPECT_FALSE(TakenBack(verdict_)) << why;
  }
  for (const char* why : {"superseded by v2", "no longer supported"}) {
    verdict_.closed_because = why;
    EXPECT_TRUE(TakenBack(verdict_)) << why;
  }
  See(10);
  See(40);
  EXPECT_EQ(sightings_.TakenBackFor("v1", now_), Nanos::FromSeconds(30));
  EXPECT_EQ(sightings_.TakenBackFor("v2", now_), Nanos());
  verdict_.open = true;
  EXPECT_FALSE(TakenBack(verdict_)) << "it stands again";
  See(50);
  EXPECT_EQ(sightings_.TakenBackFor("v1", now_), Nanos());
}

}  // namespace
}  // namespace fathom::cordon
