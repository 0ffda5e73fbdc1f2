#include "collector/job/ranks/run_facts_table.h"

#include <gtest/gtest.h>

#include "fathom/v1/run.pb.h"

namespace fathom::collector {
namespace {

v1::RunFacts FactsBy(std::uint32_t rank, const std::string& torch, const std::string& program) {
  v1::RunFacts facts;
  facts.set_rank(rank);
  facts.set_program(program);
  if (!torch.empty()) (*facts.mutable_facts())["torch"] = torch;
  return facts;
}

TEST(RunFactsTable, WhoSpeaksAfterTheFirstRankHasGoneReplacesNothing) {
  RunFactsTable table;
  table.Take(FactsBy(0, "2.13", "train.py"), "n0");
  table.Take(FactsBy(1, "", ""), "n0");
  ASSERT_EQ(table.Setup().variants.size(), 1u);
  EXPECT_EQ(table.Setup().variants[0].facts.at("torch"), "2.13");
  EXPECT_EQ(table.Profile(2).program, "train.py");
}

TEST(RunFactsTable, TheSameRankAndALowerOneReplace) {
  RunFactsTable table;
  table.Take(FactsBy(3, "2.11", "a.py"), "n1");
  table.Take(FactsBy(3, "2.12", "a.py"), "n1");
  EXPECT_EQ(table.Setup().variants[0].facts.at("torch"), "2.12");
  table.Take(FactsBy(2, "2.13", "a.py"), "n1");
  ASSERT_EQ(table.Setup().variants.size(), 1u);
  EXPECT_EQ(table.Setup().variants[0].facts.at("torch"), "2.13");
}

TEST(RunFactsTable, IsKnownOnceRankZeroOrAllNodesHaveTold) {
  RunFactsTable table;
  EXPECT_FALSE(table.known(2));
  table.Take(FactsBy(2, "2.13", "a.py"), "n1");
  EXPECT_FALSE(table.known(2));
  table.Take(FactsBy(3, "2.13", "a.py"), "n2");
  EXPECT_TRUE(table.known(2));
  table.Clear();
  table.Take(FactsBy(0, "2.13", "a.py"), "n0");
  EXPECT_TRUE(table.known(2));
}

}  // namespace
}  // namespace fathom::collector
