// `fathom get plan`, of a collector and a node.
#include "collector/cli/plan/plan_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Json Plan(const char* whose, const char* name) {
  return {{whose, name},
          {"told_unix_ns", 1},
          {"fits", true},
          {"budget", {{"cores", 0.5}, {"bytes_per_s", 0}, {"memory_bytes", 0}}},
          {"spend", {{"cores", 0.25}, {"bytes_per_s", 12'500}, {"memory_bytes", 0}}},
          {"changes", 0},
          {"parts",
           {{{"name", "looks"},
             {"rate", "every 500 ms"},
             {"level", 1},
             {"levels", 4},
             {"spend", {{"cores", 0.125}}},
             {"ns_per_event", 2e6},
             {"events_per_s", 62.5}}}}};
}

TEST(PlanTextTest, ACollectorIsToldFromANode) {
  const std::string text = PlanText(Json::array({Plan("collector", "c1"), Plan("node", "n1")}), {});
  EXPECT_THAT(text, HasSubstr("collector c1: may take 50 % of a core, no limit, no limit;"));
  EXPECT_THAT(text, HasSubstr("\nn1: may take 50 % of a core"));
  EXPECT_THAT(text, HasSubstr("12.500 %"));
  EXPECT_THAT(text, AllOf(HasSubstr("2 of 4"), HasSubstr("every 500 ms"), HasSubstr("62.5")));
  EXPECT_THAT(text, Not(HasSubstr("does not fit")));
}

TEST(PlanTextTest, SaysByHowMuchItDoesNotFit) {
  Json plan = Plan("collector", "c1");
  plan["fits"] = false;
  plan["spend"]["cores"] = 0.7;
  EXPECT_THAT(PlanText(Json::array({plan}), {}), HasSubstr("it takes 1.4 times what it may."));
}

}  // namespace
}  // namespace fathom::cli
