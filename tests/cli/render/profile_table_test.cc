#include "collector/cli/render/profile_table.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

Json Profile() {
  return Json::parse(R"({"id": 3, "first_iteration": 40, "iterations": 10, "ranks": [
    {"rank": 0, "state": "closed", "reason": "", "records": 900, "lost": 4, "seconds": 2,
     "busy_s": 1.5, "cupti_s": 0.24, "sums": [
       {"kind": "kernel", "name": "gemm", "count": 20, "total_s": 1.2, "longest_s": 0.3},
       {"kind": "copy", "name": "", "count": 10, "total_s": 0.2, "longest_s": 0.03},
       {"kind": "kernel", "name": "norm", "count": 10, "total_s": 0.1, "longest_s": 0.03}]},
    {"rank": 1, "state": "refused", "reason": "other_profiler", "sums": []}]})");
}

TEST(ProfileTableTest, TellsWhatTookTheTimeOnEachRank) {
  const std::string text = ProfileTable(Profile(), 2);
  EXPECT_THAT(text, HasSubstr("iterations 40 to 49\n"));
  EXPECT_THAT(text, testing::ContainsRegex("0 +closed .*75 % +12 % +900 +4"));
  EXPECT_THAT(text, testing::ContainsRegex("1 +refused[ -]+other_profiler"));
  EXPECT_THAT(text, testing::ContainsRegex("0 +gemm +20 .*60 %"));
  EXPECT_THAT(text, testing::ContainsRegex("0 +copy +10 ")) << "the kind, where there is no name";
  EXPECT_THAT(text, Not(HasSubstr("norm"))) << "the two largest";
}

TEST(ProfileTableTest, NoWindowHasNoActivities) {
  Json profile = Profile();
  profile["ranks"].erase(0);
  EXPECT_THAT(ProfileTable(profile, 2), Not(HasSubstr("ACTIVITY")));
}

}  // namespace
}  // namespace fathom::cli
