#include "collector/cli/capture/capture_stacks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "collector/cli/capture/capture_table.h"
#include "collector/cli/capture/flame_page.h"

namespace fathom::cli {
namespace {

// As the collector answers, of two ranks; a name with the separator and a tag in it.
Json Captured() {
  return Json::parse(R"json({
    "job": "train<1>", "id": 3, "state": "over", "first_iteration": 120, "iterations": 90,
    "native": false,
    "ranks": [
      {"rank": 0, "state": "done", "reason": "", "seconds": 4.01, "samples": 400, "raw_bytes": 24000,
       "worker_samples": 10,
       "frames": [{"function": "train", "file": "/job/train.py", "line": 103},
                  {"function": "main", "file": "/job/train.py", "line": 9},
                  {"function": "read;it", "file": "/job/data.py", "line": 4}],
       "stacks": [{"samples": 300, "frames": [0, 1]}, {"samples": 100, "frames": [1]}],
       "worker_stacks": [{"samples": 10, "frames": [2]}]},
      {"rank": 2, "state": "done", "reason": "", "seconds": 4.0, "samples": 400, "raw_bytes": 1,
       "worker_samples": 0,
       "frames": [{"function": "write<int>", "file": "/job/train.py", "line": 85},
                  {"function": "train", "file": "/job/train.py", "line": 103},
                  {"function": "main", "file": "/job/train.py", "line": 9}],
       "stacks": [{"samples": 220, "frames": [0, 1, 2]}, {"samples": 180, "frames": [1, 2]}],
       "worker_stacks": []},
      {"rank": 3, "state": "refused", "reason": "another tool watches this process: gdb (pid 9)"}],
    "functions": [
      {"rank": 2, "function": "write<int>", "file": "/job/train.py", "line": 85, "share": 0.55,
       "peers_share": 0.0, "doing": "sleep", "in_workers": false, "missing": "", "peers": 1,
       "table": [{"function": "write<int>", "file": "/job/train.py", "line": 85, "share": 0.55,
                  "peers_share": 0.0}]},
      {"rank": 0, "function": "", "missing": "one function", "table": []}]})json");
}

TEST(CaptureTable, PutsTheCulpritAgainstItsPeers) {
  const std::string text = CaptureTable(Captured(), 5);
  EXPECT_NE(text.find("stacks of iterations 120 to 209, the same on all ranks"), std::string::npos);
  EXPECT_NE(text.find("write<int> (train.py:85)"), std::string::npos) << text;
  EXPECT_NE(text.find("55.0 %"), std::string::npos);
  EXPECT_NE(text.find("asleep"), std::string::npos);
  EXPECT_NE(text.find("RANK 2 IS IN"), std::string::npos);
  EXPECT_NE(text.find("another tool watches this process: gdb (pid 9)"), std::string::npos);
}

TEST(CaptureTable, OfNobodyWhoStandsOutSaysWhy) {
  Json capture = Captured();
  capture["functions"].erase(0);
  EXPECT_NE(CaptureTable(capture, 5)
                .find("no rank spends clearly more of its time in one function "
                      "than its peers (missing: one function)"),
            std::string::npos);
}

TEST(CaptureStacks, AreFoldedOutermostFirst) {
  EXPECT_EQ(FoldedOf(Captured()["ranks"][0]),
            "main (train.py:9);train (train.py:103) 300\nmain (train.py:9) 100\n"
            "workers;read,it (data.py:4) 10\n");
}

TEST(CaptureStacks, TheDifferenceHasTheSamplesOfBoth) {
  const StackDifference difference = DifferenceOf(Captured());
  EXPECT_EQ(difference.rank, 2);
  const std::string text = FoldedDifference(difference);
  EXPECT_NE(text.find("main (train.py:9);train (train.py:103) 300 180\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("train (train.py:103);write<int> (train.py:85) 0 220\n"), std::string::npos);
}

TEST(CaptureStacks, SpeedscopeHasAProfileARankOverOneTable) {
  const Json file = Json::parse(SpeedscopeOf(Captured()));
  ASSERT_EQ(file["profiles"].size(), 2u);
  EXPECT_EQ(file["profiles"][1]["name"], "rank 2");
  EXPECT_EQ(file["profiles"][1]["endValue"], 400);
  const Json& deepest = file["profiles"][1]["samples"][0];
  ASSERT_EQ(deepest.size(), 3u);
  EXPECT_EQ(file["shared"]["frames"][deepest[2].get<std::size_t>()]["name"],
            "write<int> (train.py:85)");
}

TEST(CaptureStacks, AreWrittenAFileARank) {
  const auto folder = std::filesystem::temp_directory_path() / "capture_stacks_test";
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(WriteFolded(Captured(), folder.string()).ok());
  EXPECT_TRUE(std::filesystem::exists(folder / "rank_0.folded"));
  EXPECT_TRUE(std::filesystem::exists(folder / "rank_2.folded"));
  EXPECT_FALSE(std::filesystem::exists(folder / "rank_3.folded"));
  std::stringstream text;
  text << std::ifstream(folder / "difference.folded").rdbuf();
  EXPECT_EQ(text.str(), FoldedDifference(DifferenceOf(Captured())));
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(WriteFolded(Captured(), "/proc/no/such").ok());
}

TEST(FlamePage, DrawsWhatIsMoreThanThePeersAndEscapesNames) {
  const std::string page = FlamePage(DifferenceOf(Captured()), "train<1>");
  EXPECT_NE(page.find("write&lt;int&gt; (train.py:85): 55.0 % of its time, 0.0 % of its peers'"),
            std::string::npos);
  EXPECT_EQ(page.find("write<int>"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);  // it opens without a network
  EXPECT_NE(FlamePage(StackDifference(), "j").find("No stacks were captured"), std::string::npos);
}

}  // namespace
}  // namespace fathom::cli
