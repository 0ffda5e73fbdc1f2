#include "collector/cli/command/watch_view.h"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

Json Job(const char* name, const char* state) {
  return Json{
      {"name", name}, {"state", state}, {"iteration", 12}, {"iteration_s", 0.05}, {"ranks", 4}};
}

Json Verdict(const char* grade) {
  return Json{{"id", "v-1"}, {"job", "train"}, {"grade", grade}, {"sentence", "Rank 2 is late."}};
}

TEST(WatchViewTest, ALinePerChangeOfState) {
  WatchView view((Terminal()), "");
  EXPECT_EQ(view.OnJob(Job("train", "running")),
            "fathom: job train running, iteration 12, 50.0 ms an iteration, 4 ranks\n");
  EXPECT_EQ(view.OnJob(Job("train", "running")), "");
  EXPECT_NE(view.OnJob(Job("train", "slow")), "");
  const Json young = {{"name", "new"}, {"state", "running"}, {"iteration", "-1"}, {"ranks", 1}};
  EXPECT_EQ(view.OnJob(young), "fathom: job new running, 1 ranks\n");
}

TEST(WatchViewTest, OtherJobsAreLeftOut) {
  WatchView view((Terminal()), "train");
  EXPECT_EQ(view.OnJob(Job("other", "running")), "");
  Json foreign = Verdict("established");
  foreign["job"] = "other";
  EXPECT_EQ(view.OnVerdict(foreign), "");
  EXPECT_FALSE(view.culprit_found());
}

TEST(WatchViewTest, EndsWithItsJobAndRemembersACulprit) {
  WatchView view((Terminal()), "train");
  view.OnJob(Job("train", "running"));
  EXPECT_FALSE(view.ended());
  view.OnVerdict(Verdict("hypothesis"));
  EXPECT_FALSE(view.culprit_found());
  view.OnVerdict(Verdict("supported"));
  EXPECT_TRUE(view.culprit_found());
  view.OnJob(Job("train", "ended"));
  EXPECT_TRUE(view.ended());
}

TEST(WatchViewTest, FrameShowsActiveVerdictsOnly) {
  WatchView view((Terminal()), "");
  EXPECT_EQ(view.Frame(0), "no jobs yet\n");
  view.OnJob(Job("train", "slow"));
  view.OnVerdict(Verdict("supported"));
  EXPECT_NE(view.Frame(0).find("Rank 2 is late."), std::string::npos);
  Json over = Verdict("supported");
  over["until"] = {{"iteration", 20}};
  view.OnVerdict(over);
  EXPECT_EQ(view.Frame(0).find("Rank 2 is late."), std::string::npos);
}

}  // namespace
}  // namespace fathom::cli
