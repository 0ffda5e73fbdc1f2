#include "collector/cli/render/lists.h"

#include <gtest/gtest.h>

#include "tests/cli/render/golden.h"

namespace fathom::cli {
namespace {

constexpr std::int64_t kNow = 1'795'262'500'000'000'000;

class ListsTest : public testing::Test {
 protected:
  ListsTest() { UseUtc(); }
  const ListStyle narrow_{Terminal(), false, kNow};
  const ListStyle wide_{Terminal(), true, kNow};
};

TEST_F(ListsTest, Jobs) {
  const Json jobs = ReadGoldenJson("jobs.json").at("jobs");
  ExpectGolden(JobsTable(jobs, narrow_), "jobs.txt");
  ExpectGolden(JobsTable(jobs, wide_), "jobs_wide.txt");
}

TEST_F(ListsTest, Ranks) {
  const Json ranks = ReadGoldenJson("health.json").at("ranks");
  ExpectGolden(RanksTable(ranks, narrow_), "ranks.txt");
  ExpectGolden(RanksTable(ranks, wide_), "ranks_wide.txt");
}

TEST_F(ListsTest, TheGpusOfRanksThatTellThem) {
  Json ranks = ReadGoldenJson("health.json").at("ranks");
  ranks[1]["gpu"] = {{"number", 1}, {"bus_id", "0000:1B:00.0"}, {"uuid", ""}};
  EXPECT_EQ(RanksTable(ranks, narrow_).find("GPU"), std::string::npos);
  const std::string wide = RanksTable(ranks, wide_);
  EXPECT_NE(wide.find("DROPS  GPU"), std::string::npos) << wide;
  EXPECT_NE(wide.find("  0000:1B:00.0"), std::string::npos) << wide;
}

TEST_F(ListsTest, Verdicts) {
  const Json verdicts = ReadGoldenJson("verdicts.json").at("verdicts");
  ExpectGolden(VerdictsTable(verdicts, narrow_), "verdicts.txt");
  ExpectGolden(VerdictsTable(verdicts, wide_), "verdicts_wide.txt");
}

TEST_F(ListsTest, Nodes) {
  const Json nodes = ReadGoldenJson("nodes.json").at("nodes");
  ExpectGolden(NodesTable(nodes, narrow_), "nodes.txt");
  ExpectGolden(NodesTable(nodes, wide_), "nodes_wide.txt");
}

TEST_F(ListsTest, RowsOfNonsenseAreDashes) {
  const Json nonsense = Json::parse(R"([1, null, "x", {"name": 3, "ranks": {}}, []])");
  for (const auto& text : {JobsTable(nonsense, wide_), RanksTable(nonsense, wide_),
                           VerdictsTable(nonsense, wide_), NodesTable(nonsense, wide_)}) {
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6) << text;
  }
}

TEST_F(ListsTest, ControlCharactersOfNamesDoNotReachTheTerminal) {
  const Json jobs =
      Json::parse("[{\"name\": \"a\\u001b[2Jb\\nc\\u009b\", \"state\": \"running\"}]");
  const std::string text = JobsTable(jobs, narrow_);
  EXPECT_NE(text.find("a?[2Jb?c?"), std::string::npos) << text;
}

}  // namespace
}  // namespace fathom::cli
