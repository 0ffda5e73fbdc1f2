#include "collector/cli/render/trace_table.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::cli {
namespace {

using testing::HasSubstr;

TEST(TraceTableTest, TellsWhatCameOfTheOrderAndWhatIsOff) {
  const Json trace = Json::parse(R"({"id": 2, "first_iteration": 40,
    "switched_off": {"cuda": 1, "python": 4}, "ranks": [
    {"rank": 0, "state": "done", "reason": "", "at_sequence": 812},
    {"rank": 1, "state": "waits", "reason": "no_op", "at_sequence": 0},
    {"rank": 2, "state": "refused", "reason": "its ring cannot be read any more"}]})");
  const std::string text = TraceTable(trace);
  EXPECT_THAT(text, HasSubstr("from iteration 40 on\n"));
  EXPECT_THAT(text, testing::ContainsRegex("0 +done +812"));
  EXPECT_THAT(text, testing::ContainsRegex("1 +waits[ -]+it has not come to that iteration yet"));
  EXPECT_THAT(text, HasSubstr("its ring cannot be read any more"));
  EXPECT_THAT(text,
              HasSubstr("\ncuda is switched off on 1 rank\npython is switched off on 4 ranks\n"));
}

TEST(TraceTableTest, WithoutAnOrderOnlyWhatIsOff) {
  EXPECT_EQ(TraceTable(Json::parse(R"({"id": 0, "switched_off": {}, "ranks": []})")),
            "nothing is switched off\n");
}

TEST(StacksTextTest, RanksThatDoTheSameAreToldOnce) {
  const Json stacks = Json::parse(R"({"id": 1, "ranks": [
    {"rank": 0, "state": "read", "frames": ["wait", "step (train.py:7) "]},
    {"rank": 1, "state": "read", "frames": ["load"]},
    {"rank": 2, "state": "read", "frames": ["wait", "step (train.py:7) "]},
    {"rank": 3, "state": "refused", "reason": "unknown_rank", "frames": []}]})");
  EXPECT_EQ(StacksText(stacks),
            "ranks 0, 2\n    wait\n    step (train.py:7) \nrank 1\n    load\n"
            "rank 3\n    none: there is no such rank\n");
}

}  // namespace
}  // namespace fathom::cli
