#include "collector/job/summaries/one_rate.h"

#include <gtest/gtest.h>

namespace fathom::collector {
namespace {

// Iterations of ranks that take so many milliseconds each.
std::vector<diagnosis::IterationSummary> WindowOf(const std::vector<std::int64_t>& ms, int count) {
  std::vector<diagnosis::IterationSummary> window;
  for (int i = 0; i < count; ++i) {
    diagnosis::IterationSummary& iteration = window.emplace_back();
    iteration.index = Iteration(i);
    for (std::uint32_t rank = 0; rank < ms.size(); ++rank) {
      diagnosis::RankIteration& row = iteration.ranks.emplace_back();
      row.rank = RankId(rank);
      row.duration = Nanos(ms[rank] * 1'000'000 + i * 10'000);
    }
  }
  return window;
}

std::vector<std::uint32_t> RanksOf(const diagnosis::IterationSummary& iteration) {
  std::vector<std::uint32_t> out;
  for (const auto& row : iteration.ranks) out.push_back(row.rank.value);
  return out;
}

TEST(OneRate, WhoTakesAsLongAsMostStays) {
  auto window = WindowOf({100, 104, 97, 100}, 8);
  KeepOneRate(window);
  EXPECT_EQ(RanksOf(window[3]), (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(OneRate, AServerThatAnswersEachWorkerByItselfIsLeftOut) {
  auto window = WindowOf({33, 100, 100, 100}, 8);
  KeepOneRate(window);
  EXPECT_EQ(RanksOf(window[3]), (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(OneRate, ARankThatComesHalfAsOftenIsLeftOut) {
  auto window = WindowOf({100, 100, 200, 100}, 8);
  KeepOneRate(window);
  EXPECT_EQ(RanksOf(window[7]), (std::vector<std::uint32_t>{0, 1, 3}));
}

TEST(OneRate, FewIterationsTellNothing) {
  auto window = WindowOf({100, 200, 100}, 4);
  KeepOneRate(window);
  EXPECT_EQ(window[0].ranks.size(), 3u);
  std::vector<diagnosis::IterationSummary> none;
  KeepOneRate(none);
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace fathom::collector
