#include "daemon/agent/pipeline/void_time.h"

#include <gtest/gtest.h>

#include <string>

namespace fathom::agent {
namespace {

struct VoidCase {
  std::string name;
  std::vector<SeenInterval> seen;
  bool known = true;
  std::int64_t between = 0, within = 0;
};

class VoidTimeTest : public testing::TestWithParam<VoidCase> {};

// An iteration from 1000 to 2000.
TEST_P(VoidTimeTest, IsWhatNothingCovers) {
  const VoidTime time = VoidOf(GetParam().seen, 1000, 2000);
  EXPECT_EQ(time.known, GetParam().known);
  EXPECT_EQ(time.between_ns, GetParam().between);
  EXPECT_EQ(time.within_ns, GetParam().within);
}

INSTANTIATE_TEST_SUITE_P(
    All, VoidTimeTest,
    testing::Values(
        VoidCase{"NothingSeen", {}, false, 0, 0},
        VoidCase{"AllOfIt", {{1000, 2000, 1000}}, true, 0, 0},
        VoidCase{"LongestAtTheBegin", {{1400, 1700, 300}, {1800, 2000, 200}}, true, 400, 100},
        VoidCase{"LongestAtTheEnd", {{1000, 1300, 300}, {1400, 1500, 100}}, true, 500, 100},
        VoidCase{"PausesInAStretch", {{1200, 2000, 500}}, true, 200, 300},
        VoidCase{"AStretchAcrossTheBorder", {{500, 1500, 500}}, true, 500, 250},
        VoidCase{"ThreadsAtOnce", {{1000, 1600, 600}, {1100, 1700, 600}}, true, 300, 0},
        VoidCase{"InAnyOrder", {{1800, 2000, 200}, {1000, 1500, 500}}, true, 300, 0},
        VoidCase{"OutsideOfIt", {{100, 900, 800}, {2100, 2200, 100}}, true, 1000, 0}),
    [](const auto& each) { return each.param.name; });

TEST(VoidOfNothing, AnIterationWithoutLengthIsNotKnown) {
  EXPECT_FALSE(VoidOf({{1000, 1000, 0}}, 1000, 1000).known);
}

}  // namespace
}  // namespace fathom::agent
