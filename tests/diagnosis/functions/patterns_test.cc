#include "diagnosis/functions/patterns/patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "diagnosis/functions/patterns/critical_duration.h"
#include "diagnosis/functions/patterns/localise.h"
#include "diagnosis/functions/patterns/pattern_table.h"

namespace fathom::diagnosis {
namespace {

// Whom each ns belongs to, looked for among all.
std::vector<double> SharesByLooking(const std::vector<Execution>& all, std::int64_t begin,
                                    std::int64_t end, std::size_t functions) {
  std::vector<double> shares(functions, 0);
  for (std::int64_t at = begin; at < end; ++at) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].begin > at || all[i].end <= at) continue;
      const bool better = !best || all[i].of < all[*best].of ||
                          (all[i].of == all[*best].of && all[i].begin >= all[*best].begin);
      if (better) best = i;
    }
    if (best) shares[all[*best].function] += 1;
  }
  for (double& share : shares) share /= static_cast<double>(end - begin);
  return shares;
}

std::vector<Execution> Drawn(std::mt19937& random) {
  std::vector<Execution> all(random() % 14);
  for (Execution& each : all) {
    each.function = static_cast<std::uint32_t>(random() % 5);
    each.of = static_cast<FunctionClass>(each.function % 4);
    each.begin = static_cast<std::int64_t>(random() % 70) - 5;
    each.end = each.begin + static_cast<std::int64_t>(random() % 30);
  }
  return all;
}

TEST(CriticalShares, AreThoseOfLookingAtEachMoment) {
  std::mt19937 random(1);
  for (int round = 0; round < 10'000; ++round) {
    const std::vector<Execution> all = Drawn(random);
    const std::vector<double> told = CriticalShares(all, 0, 60);
    const std::vector<double> looked = SharesByLooking(all, 0, 60, told.size());
    for (std::size_t i = 0; i < told.size(); ++i) ASSERT_NEAR(told[i], looked[i], 1e-12) << round;
  }
}

// Every gap from 0 on, every run.
SamplePart DurationByTrying(const std::vector<float>& utilisation) {
  double all = 0;
  for (const float each : utilisation) all += each;
  for (std::size_t gap = 0; all > 0 && gap <= utilisation.size(); ++gap) {
    SamplePart best;
    double most = 0;
    for (std::size_t begin = 0; begin < utilisation.size(); ++begin) {
      double area = 0;
      std::size_t zeros = 0;
      if (utilisation[begin] <= 0) continue;
      for (std::size_t at = begin; at < utilisation.size() && zeros <= gap; ++at) {
        zeros = utilisation[at] > 0 ? 0 : zeros + 1;
        area += utilisation[at];
        if (zeros == 0 && area > most) most = area, best = {begin, at + 1};
      }
    }
    if (most >= kOfArea * all * (1 - 1e-9)) return best;
  }
  return {};
}

TEST(CriticalDuration, IsThatOfTryingAllGaps) {
  std::mt19937 random(2);
  for (int round = 0; round < 10'000; ++round) {
    std::vector<float> utilisation(random() % 40);
    for (float& each : utilisation) {
      each = random() % 3 == 0 ? 0.F : static_cast<float>(random() % 8) / 8;
    }
    const SamplePart told = CriticalDuration(utilisation), tried = DurationByTrying(utilisation);
    ASSERT_EQ(told.begin, tried.begin) << round;
    ASSERT_EQ(told.end, tried.end) << round;
  }
}

TEST(CriticalDuration, StripsTheWaitingOfACollectiveThatSomeoneEntersLate) {
  std::vector<float> waits(100, 0);
  waits[2] = 0.1F;  // the handshake
  std::fill(waits.begin() + 70, waits.end(), 0.9F);
  const SamplePart part = CriticalDuration(waits);
  EXPECT_EQ(part.begin, 70u);
  EXPECT_EQ(part.end, 100u);
  EXPECT_TRUE(CriticalDuration(std::vector<float>(5, 0)).empty());
  EXPECT_TRUE(CriticalDuration({}).empty());
}

TEST(Patterns, HaveShareMeanAndDeviationOverTheCriticalDuration) {
  std::vector<float> waits(10, 0);
  std::fill(waits.begin() + 5, waits.end(), 0.5F);
  waits[9] = 1;
  const std::vector<Execution> all = {{0, FunctionClass::kHost, 0, 100, {}},
                                      {1, FunctionClass::kCollective, 20, 60, waits},
                                      {2, FunctionClass::kCompute, 50, 70, {}},
                                      {3, FunctionClass::kHost, 300, 400, {}}};
  const auto patterns = PatternsOf(all, 0, 100);
  ASSERT_EQ(patterns.size(), 3u);            // the last one lies outside
  EXPECT_NEAR(patterns[0].beta, 0.5, 1e-6);  // 20 before, 30 behind
  EXPECT_NEAR(patterns[1].beta, 0.3, 1e-6);  // while no kernel runs
  EXPECT_NEAR(patterns[2].beta, 0.2, 1e-6);
  EXPECT_NEAR(patterns[1].mu, 0.6, 1e-6);
  EXPECT_NEAR(patterns[1].sigma, 0.2, 1e-6);
  EXPECT_EQ(patterns[0].mu, 1);
  EXPECT_EQ(patterns[0].sigma, 0);
}

PatternColumn Column(std::size_t workers, FunctionClass of, std::mt19937& random) {
  std::normal_distribution<float> noise(0, 0.01F);
  PatternColumn column{of, {}, {}, {}};
  for (std::size_t i = 0; i < workers; ++i) {
    column.beta.push_back(0.3F + noise(random));
    column.mu.push_back(0.8F + noise(random));
    column.sigma.push_back(0.1F + noise(random));
  }
  return column;
}

TEST(Localise, NamesTheWorkersOnTheSlowLinkAndNobodyElse) {
  std::mt19937 random(3);
  PatternColumn column = Column(256, FunctionClass::kCollective, random);
  for (const std::size_t worker : {17u, 200u}) {
    column.mu[worker] = 0.3F;      // the throughput is low
    column.sigma[worker] = 0.02F;  // and steady
  }
  const auto odd = Localise(column);
  ASSERT_EQ(odd.size(), 2u);
  EXPECT_EQ(odd[0].worker, 17u);
  EXPECT_EQ(odd[1].worker, 200u);
  EXPECT_TRUE(odd[0].by_peers);
}

TEST(Localise, NoiseNamesNobody) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    const std::size_t workers = 8 + random() % 300;
    EXPECT_TRUE(Localise(Column(workers, FunctionClass::kCompute, random)).empty()) << round;
  }
}

TEST(Localise, CodeOfTheHostOnTheCriticalPathOfAllIsToldByItsExpectation) {
  std::mt19937 random(5);
  PatternColumn column = Column(16, FunctionClass::kHost, random);
  const auto odd = Localise(column);
  ASSERT_EQ(odd.size(), 16u);
  EXPECT_FALSE(odd[0].by_peers);
  EXPECT_NEAR(odd[0].distance, column.beta[0] - 0.01F, 1e-6);
}

TEST(Localise, FewWorkersHaveNoVote) {
  std::mt19937 random(6);
  PatternColumn column = Column(7, FunctionClass::kCollective, random);
  column.mu[3] = 0.1F;
  EXPECT_TRUE(Localise(column).empty());
}

TEST(Localise, DifferencesAreThoseOfCountingThem) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> any(0, 1);
  for (int round = 0; round < 300; ++round) {
    PatternColumn column{FunctionClass::kCompute, {}, {}, {}};
    const std::size_t workers = 1 + random() % 90;  // all of them are peers
    for (std::size_t i = 0; i < workers; ++i) {
      column.beta.push_back(any(random));
      column.mu.push_back(any(random));
      column.sigma.push_back(0);
    }
    const auto scale = [](const std::vector<float>& values) {
      const auto [low, high] = std::minmax_element(values.begin(), values.end());
      return 1 / std::max(*high - *low, 0.4F);
    };
    const float b = scale(column.beta), m = scale(column.mu);
    const auto told = DifferencesOf(column, {});
    for (std::size_t i = 0; i < workers; ++i) {
      std::uint32_t low = 0, high = 0;  // but for rounding at the border
      for (std::size_t k = 0; k < workers; ++k) {
        const float away = std::abs(column.beta[i] - column.beta[k]) * b +
                           std::abs(column.mu[i] - column.mu[k]) * m;
        low += away >= 0.4001F ? 1 : 0;
        high += away >= 0.3999F ? 1 : 0;
      }
      ASSERT_GE(told[i], low);
      ASSERT_LE(told[i], high);
    }
  }
}

NamedPattern Named(const char* function, FunctionClass of, float beta, float mu) {
  return {function, "", 0, {0, of, beta, mu, 0}};
}

TEST(PatternTable, HoldsEachFunctionOfEachRankOddOnesFirst) {
  RankPatterns ranks;
  for (std::uint32_t r = 0; r < 16; ++r) {
    const float bandwidth = r == 5 ? 3.F : 10.F;  // bytes a ns
    ranks[RankId(r)] = {Named("all_reduce", FunctionClass::kCollective, 0.2F, bandwidth),
                        Named("gemm", FunctionClass::kCompute, 0.6F, 1)};
  }
  ranks[RankId(9)].push_back(Named("sleep", FunctionClass::kHost, 0.1F, 1));
  const auto rows = PatternTable(ranks, 1000);
  ASSERT_EQ(rows.size(), 33u);
  EXPECT_EQ(rows[0].of.function, "all_reduce");
  EXPECT_EQ(rows[0].rank, RankId(5));
  EXPECT_TRUE(rows[0].odd);
  EXPECT_NEAR(rows[0].of.pattern.mu, 0.3, 1e-6);  // of the best
  EXPECT_EQ(rows[0].differs, 15u);
  EXPECT_EQ(rows[1].of.function, "sleep");
  EXPECT_NEAR(rows[1].distance, 0.09, 1e-6);
  EXPECT_FALSE(rows[2].odd);
  EXPECT_EQ(rows[2].of.function, "gemm");
  EXPECT_EQ(PatternTable(ranks, 3).size(), 3u);
  EXPECT_TRUE(PatternTable({}, 3).empty());
}

}  // namespace
}  // namespace fathom::diagnosis
