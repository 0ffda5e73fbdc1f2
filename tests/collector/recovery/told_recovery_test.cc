// What is told of a recovery comes back as it was told, and nonsense is refused with what is wrong.
#include "collector/recovery/told_recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/http/request.h"

namespace fathom::collector {
namespace {

using ::testing::HasSubstr;

ToldRecovery Sample() {
  ToldRecovery told;
  told.id = "r0123456789ab";
  told.job = "train";
  told.state = "recovered";
  told.said = "the job runs at its usual pace";
  told.node = "n3";
  told.spare = "n5";
  told.times = {.onset_ns = 70'000'000'000,
                .planned_ns = 110'000'000'000,
                .begun_ns = 111'000'000'000,
                .first_step_ns = 112'000'000'000,
                .isolating_ns = 113'000'000'000,
                .isolated_ns = 114'000'000'000,
                .running_ns = 130'000'000'000,
                .processes = 4,
                .slowdown = 2,
                .plan_lost_work_s = 30};
  return told;
}

TEST(ToldRecovery, ComesBackAsItWasTold) {
  const auto back = ReadToldRecovery(ToldRecoveryText(Sample()));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(ToldRecoveryText(*back), ToldRecoveryText(Sample()));
  EXPECT_EQ(back->node, "n3");
  EXPECT_EQ(back->times.running_ns, 130'000'000'000);
  EXPECT_FALSE(back->under_way());
  const cli::Json json = ToldRecoveryJson(*back);
  EXPECT_DOUBLE_EQ(json["stages"]["restart_s"].get<double>(), 16);
  EXPECT_FALSE(json["stages"].contains("warm_up_s")) << "it is not known";
  EXPECT_DOUBLE_EQ(json["lost_gpu_hours"].get<double>(), 4 * (17 + 31.5) / 3600);
}

TEST(ToldRecovery, LongTextsAreCutAndFitARequest) {
  ToldRecovery told = Sample();
  for (std::string* text : {&told.said, &told.verdict, &told.grade, &told.cause, &told.node,
                            &told.spare, &told.checkpoint, &told.backend, &told.by})
    for (int i = 0; i < 500; ++i) *text += "ü";
  const std::string text = ToldRecoveryText(told);
  EXPECT_LE(text.size(), Request::kMaxBody);
  const auto back = ReadToldRecovery(text);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->said.size(), ToldRecovery::kMostText) << "whole characters of two bytes";
}

TEST(ToldRecovery, NonsenseIsRefused) {
  const auto why = [](auto change) {
    ToldRecovery told = Sample();
    change(told);
    return std::string(ReadToldRecovery(ToldRecoveryText(told)).status().message());
  };
  EXPECT_THAT(why([](ToldRecovery& t) { t.id = ""; }), HasSubstr("no id"));
  EXPECT_THAT(why([](ToldRecovery& t) { t.job = ""; }), HasSubstr("no job"));
  EXPECT_THAT(why([](ToldRecovery& t) { t.state = "well"; }), HasSubstr("state"));
  EXPECT_THAT(why([](ToldRecovery& t) { t.times.begun_ns = 0; }), HasSubstr("begun"));
  EXPECT_THAT(why([](ToldRecovery& t) { t.times.warm_ns = -1; }), HasSubstr("1970"));
  EXPECT_THAT(why([](ToldRecovery& t) { t.times.slowdown = 0.5; }), HasSubstr("slowdown"));
  EXPECT_THAT(why([](ToldRecovery& t) { t.times.plan_lost_work_s = -1; }), HasSubstr("lost_work"));
  EXPECT_THAT(why([](ToldRecovery& t) { t.times.processes = -7; }), HasSubstr("processes"));
  EXPECT_THAT(std::string(ReadToldRecovery("[1]").status().message()), HasSubstr("not a JSON"));
  const std::string huge = R"({"id":")" + std::string(300, 'x') + R"("})";
  EXPECT_THAT(std::string(ReadToldRecovery(huge).status().message()), HasSubstr("200 bytes"));
}

}  // namespace
}  // namespace fathom::collector
