#include "daemon/service/budget/choose_levels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>

namespace fathom::service {
namespace {

constexpr double kMebi = 1 << 20;

// All combinations, one after the other.
Choice BruteForce(const Levels& parts, const Spend& budget) {
  const auto over = [&](const Choice& choice) {
    return choice.fits ? 0 : std::ceil((choice.spend.Times(budget) - 1) / kStep);
  };
  std::optional<Choice> best;
  std::vector<std::size_t> level(parts.size(), 0);
  while (true) {
    bool allowed = true;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      allowed = allowed && (parts[p].empty() || parts[p][level[p]].allowed);
    }
    const Choice each = Priced(parts, level, budget);
    if (allowed &&
        (!best || std::pair(over(each), each.loss) < std::pair(over(*best), best->loss))) {
      best = each;
    }
    std::size_t p = 0;
    while (p < parts.size() && ++level[p] >= std::max<std::size_t>(1, parts[p].size()))
      level[p++] = 0;
    if (p == parts.size()) return *best;
  }
}

Levels Drawn(std::mt19937& random) {
  std::uniform_int_distribution<int> parts(1, 7), levels(0, 4), percent(0, 100);
  Levels out(static_cast<std::size_t>(parts(random)));
  for (std::vector<Level>& part : out) {
    const int count = levels(random);
    for (int l = 0; l < count; ++l) {
      // Multiples of powers of two: sums in any order are the same.
      Level& level = part.emplace_back();
      level.spend = {percent(random) / 4096.0, percent(random) * 256.0,
                     percent(random) * kMebi / 8};
      level.loss = l == 0 ? 0 : percent(random) / 64.0;
      level.allowed = l == 0 || percent(random) < 85;
    }
  }
  return out;
}

TEST(ChooseLevelsTest, IsAsGoodAsTryingAll) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> percent(1, 200);
  int fit = 0;
  for (int round = 0; round < 2000; ++round) {
    const Levels parts = Drawn(random);
    const Spend budget{percent(random) / 1024.0, percent(random) * 512.0,
                       percent(random) * kMebi / 4};
    const Choice found = ChooseLevels(parts, budget), best = BruteForce(parts, budget);
    ASSERT_EQ(found.fits, best.fits) << "round " << round;
    ASSERT_EQ(found.loss, best.loss) << "round " << round;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const bool allowed = parts[p].empty() || parts[p][found.level[p]].allowed;
      ASSERT_TRUE(allowed) << "round " << round;
    }
    fit += found.fits ? 1 : 0;
  }
  EXPECT_GT(fit, 200) << "budgets that fit";
  EXPECT_LT(fit, 1800) << "and some that do not";
}

TEST(ChooseLevelsTest, TakesTheFinestWhereNothingIsLimited) {
  const Level fine{{0.5, 1e6, 1e9}, 0}, coarse{{0.1, 1e3, 1e6}, 1};
  const Choice choice =
      ChooseLevels({{fine, coarse}, {fine, coarse}}, {kNoLimit, kNoLimit, kNoLimit});
  EXPECT_TRUE(choice.fits);
  EXPECT_EQ(choice.level, (std::vector<std::size_t>{0, 0}));
}

TEST(ChooseLevelsTest, WhatDoesNotHelpStaysFineWhereNothingFits) {
  // The fixed part alone is twice the budget: a knob of a thousandth of it is left alone, one of a
  // tenth is not.
  const Levels parts = {{{{0.0202, 0, 0}, 0}},
                        {{{0.00001, 0, 0}, 0}, {{0, 0, 0}, 0.5}},
                        {{{0.001, 0, 0}, 0}, {{0, 0, 0}, 0.5}}};
  const Choice choice = ChooseLevels(parts, {0.01, kNoLimit, kNoLimit});
  EXPECT_FALSE(choice.fits);
  EXPECT_EQ(choice.level, (std::vector<std::size_t>{0, 0, 1}));
}

}  // namespace
}  // namespace fathom::service
