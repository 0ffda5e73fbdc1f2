#include "collector/cli/doctor/job_sources.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::cli {
namespace {

Json Health() {
  return Json::parse(R"({"ranks": [
    {"rank": 0, "node": "a", "sources": {"gloo": "off", "nccl": "on", "nccl_plugin": "on",
     "cuda": "on", "gpu_window": "off", "python": "ready"}, "window_refused": "other_profiler"},
    {"rank": 1, "node": "a", "sources": {"nccl": "on", "nccl_plugin": "off"}},
    {"rank": 2, "node": "b", "sources": {"nccl": "on", "nccl_plugin": "on", "gpu_window": "on"}},
    {"rank": 3, "node": "b"}],
    "signals": [{"name": "ranks", "state": "on", "hides": "ranks"},
                {"name": "gpu_times", "state": "partly", "hides": "slow GPUs"}]})");
}

TEST(JobSourcesTest, TellsTheTierOfEachRankAndWhatIsHidden) {
  const std::string text = JobSourcesTable(Health());
  EXPECT_THAT(text, testing::ContainsRegex("0 +a +off +on +on +on +off +ready +1 +other_profiler"));
  EXPECT_THAT(text, testing::HasSubstr("\ngpu_times is partly; hides: slow GPUs\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("hides: ranks")));
}

TEST(JobSourcesTest, TellsWhichGpuARankDrives) {
  EXPECT_THAT(JobSourcesTable(Health()), testing::Not(testing::HasSubstr("GPU ")));
  Json health = Health();
  health["ranks"][0]["gpu"] = {{"number", 0}, {"bus_id", "0000:1B:00.0"}, {"uuid", ""}};
  health["ranks"][1]["gpu"] = {{"number", 0}, {"bus_id", ""}, {"uuid", ""}};
  const std::string text = JobSourcesTable(health);
  EXPECT_THAT(text, testing::ContainsRegex("RANK +NODE +GPU +gloo"));
  EXPECT_THAT(text, testing::ContainsRegex("0 +a +0000:1B:00.0 +off"));
  EXPECT_THAT(text, testing::ContainsRegex("1 +a +0 +- +on")) << "its number alone";
  EXPECT_EQ(JobSourcesJson(health)["ranks"][0]["gpu"], "0000:1B:00.0");
  EXPECT_EQ(JobSourcesJson(health)["ranks"][2]["gpu"], "");
}

TEST(JobSourcesTest, WhatAPersonSwitchedOffIsTold) {
  Json health = Health();
  health["ranks"][1]["sources"]["nccl_plugin"] = "switched_off";
  health["ranks"][2]["switched_off"] = {"nccl_transfers"};
  const std::string text = JobSourcesTable(health);
  EXPECT_THAT(text,
              testing::HasSubstr("nccl_transfers is switched off on 1 ranks; hides: on which"));
  EXPECT_THAT(text, testing::ContainsRegex("1 +a .*switched_off .* 0"));
  EXPECT_EQ(JobSourcesJson(health)["ranks"][2]["switched_off"].size(), 1u);
}

TEST(JobSourcesTest, JsonHasTheSame) {
  const Json json = JobSourcesJson(Health());
  const auto tier = [&](std::size_t rank) {
    return json["ranks"][rank]["tier"].get<std::string>();
  };
  EXPECT_EQ(tier(0), "1");
  EXPECT_EQ(tier(1), "0");
  EXPECT_EQ(tier(2), "2");
  EXPECT_EQ(tier(3), "") << "of an agent that does not tell";
  EXPECT_EQ(json["ranks"][0]["window_refused"], "other_profiler");
  EXPECT_EQ(json["signals"].size(), 2u);
}

}  // namespace
}  // namespace fathom::cli
