#include "collector/cli/render/verdict_view.h"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

VerdictView WithEntity(const char* entity) {
  return ReadVerdict(Json{{"entity", Json::parse(entity)}});
}

TEST(VerdictViewTest, NamesTheCulpritByItsKind) {
  EXPECT_EQ(WithEntity(R"({"type":"rank","ranks":[2],"node":"n0"})").Culprit(), "rank 2 on n0");
  EXPECT_EQ(WithEntity(R"({"type":"rank","ranks":[2],"node":"n0","gpu":"0000:1B:00.0"})").Culprit(),
            "rank 2 on n0, GPU 0000:1B:00.0");
  EXPECT_EQ(WithEntity(R"({"type":"rank","ranks":[2],"gpu":"3"})").Culprit(), "rank 2, GPU 3");
  EXPECT_EQ(WithEntity(R"({"type":"rank","ranks":[3,1]})").Culprit(), "ranks 1, 3");
  EXPECT_EQ(WithEntity(R"({"type":"link","link":{"src":"a","dst":"b"}})").Culprit(), "link a -> b");
  EXPECT_EQ(WithEntity(R"({"type":"host","node":"n0","ranks":[0,1,2,3]})").Culprit(), "host n0");
  EXPECT_EQ(WithEntity(R"({"type":"stage","ranks":[6,7,8]})").Culprit(), "stage with ranks 6-8");
  EXPECT_EQ(WithEntity(R"({"type":"job"})").Culprit(), "job");
}

TEST(VerdictViewTest, OnlyTheTwoStrongestGradesConvict) {
  for (const char* grade : {"established", "supported"}) {
    EXPECT_TRUE(ReadVerdict(Json{{"grade", grade}}).Convicts());
  }
  for (const char* grade : {"hypothesis", "unknown", "", "ESTABLISHED"}) {
    EXPECT_FALSE(ReadVerdict(Json{{"grade", grade}}).Convicts());
  }
}

TEST(VerdictViewTest, RankLists) {
  EXPECT_EQ(RankList({}), "");
  EXPECT_EQ(RankList({7, 0, 1, 2, 3, 3}), "0-3, 7");
  EXPECT_EQ(RankList({1, 2}), "1, 2");
}

TEST(VerdictViewTest, AnAbsentSinceIsNotIterationZero) {
  EXPECT_EQ(ReadVerdict(Json::object()).since_iteration, -1);
  const VerdictView always = ReadVerdict(Json::parse(R"({"since":{"time_unix_ns":"5"}})"));
  EXPECT_EQ(always.since_iteration, -1);
  EXPECT_TRUE(always.from_start);
  const auto first = ReadVerdict(Json::parse(R"({"since":{"time_unix_ns":"5","iteration":"0"}})"));
  EXPECT_EQ(first.since_iteration, 0);
  EXPECT_FALSE(first.from_start);
  EXPECT_FALSE(ReadVerdict(Json::parse(R"({"until":null})")).closed);
  EXPECT_TRUE(ReadVerdict(Json::parse(R"({"until":{"iteration":"9"}})")).closed);
}

}  // namespace
}  // namespace fathom::cli
