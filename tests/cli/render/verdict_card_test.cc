#include "collector/cli/report/verdict_card.h"

#include "collector/cli/render/folded_stacks.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/cli/render/golden.h"

namespace fathom::cli {
namespace {

class VerdictCardTest : public testing::Test {
 protected:
  VerdictCardTest() { UseUtc(); }
  const Json verdicts_ = ReadGoldenJson("verdicts.json").at("verdicts");
};

TEST_F(VerdictCardTest, CardAndPageOfAnActiveVerdict) {
  const VerdictView verdict = ReadVerdict(verdicts_[0]);
  ExpectGolden(VerdictCard(verdict, Terminal(), "fathom: "), "card.txt");
  ExpectGolden(VerdictPage(verdict, Terminal()), "page.txt");
  ExpectGolden(VerdictSummary(verdict, Terminal()), "summary.txt");
}

TEST_F(VerdictCardTest, TheGpuWhereItIsKnown) {
  Json verdict = verdicts_[0];
  verdict["entity"]["gpu"] = "0000:1B:00.0";
  const VerdictView read = ReadVerdict(verdict);
  EXPECT_NE(VerdictCard(read, Terminal(), "").find("gpu        0000:1B:00.0\n"), std::string::npos)
      << VerdictCard(read, Terminal(), "");
  EXPECT_NE(VerdictPage(read, Terminal()).find("rank 2 on node0, GPU 0000:1B:00.0\n"),
            std::string::npos);
}

TEST_F(VerdictCardTest, PageOfAClosedVerdict) {
  ExpectGolden(VerdictPage(ReadVerdict(verdicts_[1]), Terminal()), "page_closed.txt");
}

TEST_F(VerdictCardTest, PageTellsWhoWaitsForWhom) {
  Json verdict = verdicts_[0];
  verdict["waits"] = Json::parse(R"([
    {"hop": 1, "ranks": [3], "for_ranks": [2], "group": "TENSOR", "groups": 1, "op": "all_reduce",
     "number": "41", "waited_s": 12.5},
    {"hop": 2, "ranks": [0, 1, 4, 5], "for_ranks": [3], "group": "DATA", "groups": 2,
     "op": "all_gather", "number": "-1"}])");
  const std::string page = VerdictPage(ReadVerdict(verdict), Terminal());
  EXPECT_NE(page.find("who waits  rank 2 on node0\n"
                      "           <- rank 3 in all_reduce 41 of TENSOR, 12.5 s\n"
                      "           <- <- ranks 0, 1, 4, 5 in all_gather of DATA (2 groups)\n"),
            std::string::npos)
      << page;
}

TEST_F(VerdictCardTest, PageMarksTheFrameInWhichTheCulpritDiffers) {
  Json verdict = verdicts_[0];
  verdict["stacks"] = Json::parse(R"json([
    {"ranks": [2], "frames": ["get (queue.py:3)", "main (a;b.py:9)"], "differs_at": 0,
     "culprit": true, "source": "native", "pause_s": 0.00008},
    {"ranks": [0, 1, 3], "frames": ["all_reduce (t.py:1)", "main (a;b.py:9)"], "differs_at": 0,
     "source": "py-spy"}])json");
  const VerdictView read = ReadVerdict(verdict);
  const std::string page = VerdictPage(read, Terminal());
  EXPECT_NE(page.find("rank 2 (culprit), native, paused for 80"), std::string::npos) << page;
  EXPECT_NE(page.find("> get (queue.py:3)\n           | main (a;b.py:9)\n"), std::string::npos)
      << page;
  EXPECT_EQ(FoldedStacks(read),
            "rank 2;main (a,b.py:9);get (queue.py:3) 1\n"
            "ranks 0, 1, 3;main (a,b.py:9);all_reduce (t.py:1) 3\n");
}

TEST_F(VerdictCardTest, ColourOnlyWhereTheTerminalTakesIt) {
  const VerdictView verdict = ReadVerdict(verdicts_[0]);
  EXPECT_EQ(VerdictPage(verdict, Terminal()).find('\x1b'), std::string::npos);
  const std::string coloured = VerdictPage(verdict, Terminal{true, true, 100});
  EXPECT_NE(coloured.find("\x1b[1;31mestablished\x1b[0m"), std::string::npos) << coloured;
}

TEST_F(VerdictCardTest, NoLineIsWiderThanANarrowTerminal) {
  for (const int columns : {60, 80, 120}) {
    std::istringstream lines(
        VerdictCard(ReadVerdict(verdicts_[0]), Terminal{false, false, columns}, "fathom: "));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(DisplayWidth(line), static_cast<std::size_t>(columns)) << line;
    }
  }
}

TEST_F(VerdictCardTest, AnEmptyVerdictLeavesNoEmptyLines) {
  EXPECT_EQ(VerdictCard(ReadVerdict(Json::object()), Terminal(), ""), "rank:\n");
}

TEST(EvidenceNumbersTest, ShowsValueUnitAndReference) {
  EXPECT_EQ(EvidenceNumbers({"s", "ms", "x", 98.44, 3.2}), "98.44 ms (against 3.2 ms)");
  EXPECT_EQ(EvidenceNumbers({"s", "ratio", "x", 0.96, 0}), "0.96");
  EXPECT_EQ(EvidenceNumbers({"s", "s", "x", 0.175, 1.5}), "175 ms (against 1.50 s)");
  EXPECT_EQ(EvidenceNumbers({"s", "s", "x", 0, 0.2}), "0 s (against 200 ms)");
  EXPECT_EQ(EvidenceNumbers({"s", "s", "x", -0.001066, 0.107}), "-1.07 ms (against 107 ms)");
  EXPECT_EQ(EvidenceNumbers({"s", "", "", 0, 0}), "");
}

}  // namespace
}  // namespace fathom::cli
