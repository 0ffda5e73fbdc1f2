#include "collector/cli/command/nearest_name.h"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

const std::vector<std::string> kVerbs = {"run", "get", "explain", "watch", "doctor", "completion"};

TEST(NearestNameTest, FindsTheSlipOfAFinger) {
  EXPECT_EQ(NearestName("ges", kVerbs), "get");
  EXPECT_EQ(NearestName("explian", kVerbs), "explain");
  EXPECT_EQ(NearestName("wach", kVerbs), "watch");
}

TEST(NearestNameTest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(NearestName("frobnicate", kVerbs), "");
  EXPECT_EQ(NearestName("", kVerbs), "");
  EXPECT_EQ(NearestName(std::string(100'000, 'x'), kVerbs), "");
}

}  // namespace
}  // namespace fathom::cli
