#include "diagnosis/functions/chance.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnosis/functions/compare_ranks.h"
#include "diagnosis/functions/name_function.h"
#include "tests/diagnosis/functions/drawn_captures.h"

namespace fathom::diagnosis {
namespace {

// Jobs whose samples hang together, nothing wrong with any rank.
const std::vector<DrawnJob> kShapes = {
    {.name = "quiet"},
    {.name = "phases that stall", .stalls = 0.05},
    {.name = "stalls with a heavy tail", .stalls = 0.03, .stall = 0.1, .tail = 1.1},
    {.name = "crowded", .crowded = 0.3, .blind = 0.02},
    {.name = "crowded for long",
     .ranks = 3,
     .iteration = 0.03,
     .crowded = 0.3,
     .crowd = 1,
     .slower = 4,
     .blind = 0.03},
    {.name = "crowded, which nothing tells",
     .crowded = 0.3,
     .blind = 0.02,
     .tells_core_wait = false},
    {.name = "one rank crowded more", .crowded = 0.15, .unlucky = 1, .blind = 0.02},
    {.name = "a short capture",
     .ranks = 3,
     .iteration = 0.04,
     .lasts = 1.2,
     .crowded = 0.3,
     .crowd = 0.2,
     .blind = 0.05},
    {.name = "long iterations", .iteration = 0.6, .stalls = 0.05},
    {.name = "eight ranks, longer iterations",
     .ranks = 8,
     .iteration = 1.5,
     .lasts = 20,
     .stalls = 0.02,
     .stall = 0.3,
     .crowded = 0.1,
     .crowd = 2},
};

// Drawn once all was as it is: nothing was chosen by them.
const std::vector<DrawnJob> kUnseen = {
    {.name = "tiny iterations",
     .ranks = 6,
     .iteration = 0.008,
     .lasts = 2.5,
     .spread = 0.4,
     .stalls = 0.01,
     .stall = 0.03,
     .tail = 1.3,
     .crowded = 0.2,
     .crowd = 0.05,
     .slower = 6,
     .blind = 0.06},
    {.name = "two ranks",
     .ranks = 2,
     .iteration = 0.1,
     .lasts = 5,
     .spread = 0.25,
     .stalls = 0.04,
     .stall = 0.2,
     .tail = 1.2},
    {.name = "crowded for very long",
     .ranks = 5,
     .iteration = 0.07,
     .lasts = 6,
     .crowded = 0.4,
     .crowd = 2.5,
     .slower = 2,
     .blind = 0.01},
    {.name = "half of the ranks crowded more",
     .iteration = 0.25,
     .lasts = 10,
     .spread = 0.15,
     .crowded = 0.12,
     .crowd = 0.8,
     .slower = 5,
     .unlucky = 2},
    {.name = "eight ranks, all at once",
     .ranks = 8,
     .iteration = 0.02,
     .lasts = 3,
     .spread = 0.6,
     .stalls = 0.08,
     .stall = 0.02,
     .tail = 1.05,
     .crowded = 0.25,
     .crowd = 0.4,
     .blind = 0.1},
};

Verdict On(RankId rank, double slowdown) {
  Verdict verdict;
  verdict.entity.ranks = {rank};
  verdict.cost.slowdown = slowdown;
  return verdict;
}

TEST(DrawnCaptures, OfHealthyRanksOneInAThousandIsNamedAtMost) {
  constexpr std::uint32_t kCaptures = 60;  // of each shape
  for (const auto& shapes : {kShapes, kUnseen}) {
    std::size_t ranks = 0, named = 0;
    std::string whom;
    for (const DrawnJob& job : shapes) {
      for (std::uint32_t seed = 0; seed < kCaptures; ++seed) {
        for (const RankFunctions& each : CompareRanks(JobView(), Draw(job, seed))) {
          ++ranks;
          if (!each.detail.known()) continue;
          ++named;
          whom += job.name + " " + std::to_string(seed) + "; ";
        }
      }
    }
    EXPECT_GT(ranks, 1000u);
    EXPECT_LE(named * 1000, ranks) << whom;
  }
}

TEST(DrawnCaptures, AVerdictOnAnInnocentGetsAFunctionRarely) {
  std::size_t verdicts = 0, named = 0;
  for (const DrawnJob& job : kShapes) {
    for (std::uint32_t seed = 0; seed < 60; ++seed, ++verdicts) {
      named += FindFunction(JobView(), Draw(job, seed), On(RankId(1), 1.3)).known() ? 1 : 0;
    }
  }
  EXPECT_LE(named * 200, verdicts);
}

struct Faulty {
  double fault;  // of an iteration
  bool own_function;
  // Of the shapes' captures, those in which the fault is named: by hand, and of a verdict on it.
  double least_by_hand, least_of_verdict;
};

TEST(DrawnCaptures, WhatIsTrulySlowerIsNamed) {
  constexpr std::uint32_t kCaptures = 40;
  for (const Faulty& each : std::vector<Faulty>{{0.05, true, 0.02, 0.4},
                                                {0.1, true, 0.3, 0.55},
                                                {0.3, true, 0.7, 0.85},
                                                {0.6, true, 0.7, 0.88},
                                                {0.3, false, 0.1, 0.2},
                                                {0.6, false, 0.18, 0.42}}) {
    std::size_t captures = 0, by_hand = 0, of_verdict = 0, wrong = 0;
    for (DrawnJob job : kShapes) {
      job.fault = each.fault;
      job.own_function = each.own_function;
      const auto right = [&](const Detail& found) {
        return each.own_function ? found.where.function == "write_metrics" : found.where.line == 10;
      };
      for (std::uint32_t seed = 0; seed < kCaptures; ++seed, ++captures) {
        const StackCapture capture = Draw(job, 5000 + seed);
        for (const RankFunctions& found : CompareRanks(JobView(), capture)) {
          if (!found.detail.known()) continue;
          ++(found.rank == RankId(0) && right(found.detail) ? by_hand : wrong);
        }
        const Detail found = FindFunction(JobView(), capture, On(RankId(0), 1 + each.fault));
        if (found.known()) ++(right(found) ? of_verdict : wrong);
      }
    }
    const auto part = [&](std::size_t count) {
      return static_cast<double>(count) / static_cast<double>(captures);
    };
    const std::string what = std::to_string(each.fault) + (each.own_function ? " own" : " shared");
    EXPECT_GE(part(by_hand), each.least_by_hand) << what;
    EXPECT_GE(part(of_verdict), each.least_of_verdict) << what;
    EXPECT_LE(part(wrong), 0.01) << what;
  }
}

}  // namespace
}  // namespace fathom::diagnosis
