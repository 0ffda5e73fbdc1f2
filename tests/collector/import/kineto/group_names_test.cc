#include "collector/import/kineto/group_names.h"

#include <gtest/gtest.h>

#include "tests/collector/import/kineto/trace_text.h"

namespace fathom::collector::kineto {
namespace {

constexpr char kTwoMore[] =
    R"(, {"pg_name": "9", "pg_desc": "TENSOR", "pg_size": 2, "ranks": [0, 1]},
        {"pg_name": "10", "pg_desc": "DATA", "pg_size": 2, "ranks": [0, 2]})";

struct Named {
  bool named = false;
  std::vector<std::string> groups;
};

// An all-reduce on each of the given worker threads, of the given sizes.
Named Name(const std::string& more, const std::vector<std::pair<int, int>>& runs) {
  std::vector<std::string> events;
  double begin = 100;
  for (const auto& [worker, elements] : runs) {
    for (auto& event : GlooAllReduce(begin, begin + 50, true, worker, elements)) {
      events.push_back(event);
    }
    begin += 100;
  }
  const RankTrace trace = Sift(Trace(Header(0, 4, more), events));
  JoinedOps joined = JoinComms(trace, 1);
  Named result;
  result.named = NameGroups(trace, joined);
  for (const JoinedOp& op : joined.ops) result.groups.push_back(op.call.group);
  return result;
}

using Names = std::vector<std::string>;

TEST(GroupNames, TakeTheOnlyGroup) {
  EXPECT_EQ(Name("", {{11, 5}, {30, 7}}).groups, (Names{"0", "0"}));
}

TEST(GroupNames, TakeWorkersTwoByTwo) {
  // Thread ids interleave with those of other processes; "10" was made after "9".
  const auto named = Name(kTwoMore, {{11, 1}, {14, 1}, {20, 5}, {22, 6}, {31, 7}, {33, 8}});
  EXPECT_EQ(named.groups, (Names{"0", "0", "9", "9", "10", "10"}));
  EXPECT_TRUE(named.named);
}

TEST(GroupNames, TakeWorkersThatShareSizesForOneGroup) {
  EXPECT_EQ(Name(kTwoMore, {{11, 1}, {20, 5}, {22, 5}, {31, 7}}).groups,
            (Names{"0", "9", "9", "10"}));
}

TEST(GroupNames, TakeTheGroupOfAllWhereOnlyOneRan) {
  EXPECT_EQ(Name(kTwoMore, {{11, 1}, {20, 1}}).groups, (Names{"0", "0"}));
}

TEST(GroupNames, SayNothingWhereTwoOfThreeRan) {
  const auto named = Name(kTwoMore, {{11, 1}, {20, 5}});
  EXPECT_EQ(named.groups, (Names{"", ""}));
  EXPECT_FALSE(named.named);
}

TEST(GroupNames, LeaveGroupsOfOneMemberOutWhereTheyDidNotRun) {
  const std::string more =
      R"(, {"pg_name": "1", "pg_size": 2, "ranks": [0, 1]}, {"pg_name": "2", "pg_size": 1, "ranks": [0]})";
  EXPECT_EQ(Name(more, {{11, 1}, {12, 2}, {20, 5}, {22, 6}}).groups, (Names{"0", "0", "1", "1"}));
}

}  // namespace
}  // namespace fathom::collector::kineto
