// The JSON inside a saved page, read back.
#include "collector/export/html/page_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fathom::collector {
namespace {

using Json = nlohmann::json;

// `iterations` of so many ranks, 5 ms each.
diagnosis::JobView Window(std::size_t iterations, std::uint32_t ranks) {
  diagnosis::JobView view;
  for (std::size_t i = 0; i < iterations; ++i) {
    auto& summary = view.window.emplace_back();
    summary.index = Iteration(static_cast<std::int64_t>(i));
    summary.begin = WallNs(1'790'000'000'000'000'000 + static_cast<std::int64_t>(i) * 5'000'000);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      auto& row = summary.ranks.emplace_back();
      row.rank = RankId(rank);
      row.duration = Nanos(5'000'000);
    }
  }
  return view;
}

Json Data(const diagnosis::JobView& view, const std::vector<Episode>& verdicts = {}) {
  return Json::parse(PageData({view, verdicts, "{}", {}, {}}));
}

TEST(PageDataTest, ARecordingOfNothingHasAllItsPartsEmpty) {
  const Json data = Data({});
  EXPECT_EQ(data["report"], Json::object());
  EXPECT_EQ(data["iterations"]["onset"], Json());
  for (const char* column : {"iterations", "begin_unix_ms", "duration_us", "ranks", "late_us"}) {
    EXPECT_EQ(data["iterations"][column], Json::array()) << column;
  }
  for (const char* list : {"ranks", "notes", "files"}) EXPECT_EQ(data[list], Json::array()) << list;
  EXPECT_EQ(data["pictures"]["iterations"], Json::array());
}

TEST(PageDataTest, ColumnsHaveAValueForEachIterationAndMatricesARowOfAllRanks) {
  diagnosis::JobView view = Window(3, 2);
  view.window[1].ranks.erase(view.window[1].ranks.begin());  // rank 0 told nothing of it
  view.window[2].ranks.clear();
  view.window[0].ranks[1].cpu = Nanos(4'000'999);
  view.window[0].ranks[1].blocked = Nanos(1'000'000);
  const Json told = Data(view)["iterations"];
  EXPECT_EQ(told["iterations"], Json({0, 1, 2}));
  EXPECT_EQ(told["begin_unix_ms"], Json({1'790'000'000'000, 1'790'000'000'005, 1'790'000'000'010}));
  EXPECT_EQ(told["duration_us"], Json({5000, 5000, 0}));
  EXPECT_EQ(told["ranks"], Json({0, 1}));
  EXPECT_EQ(told["cpu_us"], Json::parse("[[0,4000],[null,0],[null,null]]"));
  EXPECT_EQ(told["blocked_us"], Json::parse("[[0,1000],[null,0],[null,null]]"));
}

TEST(PageDataTest, WhoWaitsInTwoCommunicatorsWaitsForBothAndIsLateByTheWorst) {
  diagnosis::JobView view = Window(1, 3);
  const auto elapsed = [](std::uint64_t group, std::int64_t us) {
    diagnosis::GroupIteration in;
    in.group = GroupId(group);
    in.elapsed = Nanos(us * 1000);
    return in;
  };
  auto& ranks = view.window[0].ranks;
  ranks[0].groups = {elapsed(1, 10), elapsed(2, 20)};
  ranks[1].groups = {elapsed(1, 40), elapsed(2, 90)};
  ranks[2].groups = {elapsed(1, 40), elapsed(2, 90)};
  const Json told = Data(view)["iterations"];
  EXPECT_EQ(told["late_us"], Json::parse("[[70,0,0]]"));
  EXPECT_EQ(told["wait_us"], Json::parse("[[0,100,100]]"));
}

TEST(PageDataTest, WordsOfARecordingComeBackAsTheyWere) {
  diagnosis::JobView view;
  const std::string hostile = "</script>\"\\\n\x01 \xC3\xA9";
  auto& rank = view.ranks.emplace_back();
  rank.rank = RankId(3);
  rank.node = hostile;
  rank.pid = 71;
  const std::vector<std::string> notes = {hostile, "", "cut \xC3"};
  const Json data =
      Json::parse(PageData({view, {}, R"({"a":[1]})", notes, {{hostile, "kineto"}, {"b", ""}}}));
  EXPECT_EQ(data["report"], Json::parse(R"({"a":[1]})"));
  EXPECT_EQ(data["ranks"][0], Json({{"rank", 3}, {"node", hostile}, {"pid", 71}}));
  EXPECT_EQ(data["notes"], Json({hostile, "", "cut \xEF\xBF\xBD"}));
  EXPECT_EQ(data["files"][0], Json({{"path", hostile}, {"format", "kineto"}}));
  EXPECT_EQ(data["files"].size(), 2u);
}

// A window whose first iteration has so many ranks; the others tell of none.
diagnosis::JobView Wide(std::size_t iterations, std::uint32_t ranks) {
  diagnosis::JobView view = Window(iterations, 0);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    view.window[0].ranks.emplace_back().rank = RankId(rank);
  }
  return view;
}

TEST(KeptIterationsTest, TheLimitIsOfCellsAndAFewIterationsAreAlwaysKept) {
  const Iteration none(-1);
  EXPECT_TRUE(KeptIterations({}, none).empty());
  EXPECT_EQ(KeptIterations(Wide(1000, 400), none).size(), 1000u) << "just as many as allowed";
  EXPECT_EQ(KeptIterations(Wide(1001, 400), none).size(), 1000u);
  const auto few = KeptIterations(Wide(50, 20'000), none);
  EXPECT_EQ(few.size(), kLeastIterations);
  EXPECT_EQ(few.back(), 49u);
}

TEST(KeptIterationsTest, OnsetsAnywhereAreKeptOnceAndInOrder) {
  const diagnosis::JobView view = Wide(3000, 400);
  for (const std::int64_t onset : {0, 1, 59, 60, 61, 1000, 1999, 2000, 2059, 2060, 2500, 2999}) {
    const auto kept = KeptIterations(view, Iteration(onset));
    EXPECT_LE(kept.size(), 1000u) << onset;
    EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end())) << onset;
    EXPECT_EQ(std::adjacent_find(kept.begin(), kept.end()), kept.end()) << onset;
    EXPECT_TRUE(std::binary_search(kept.begin(), kept.end(), static_cast<std::size_t>(onset)))
        << onset;
    EXPECT_EQ(kept.back(), 2999u) << onset;
  }
  EXPECT_EQ(KeptIterations(view, Iteration(5000)).front(), 2000u) << "an onset that is not there";
}

}  // namespace
}  // namespace fathom::collector
