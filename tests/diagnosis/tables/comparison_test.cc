// Two recordings against each other: slower or not, and what grew.
#include "diagnosis/tables/comparison.h"

#include "diagnosis/tables/comparison_verdict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

using testing::HasSubstr;

constexpr Chances kSlower{1e-5, 1};
constexpr Chances kByChance{0.05, 0.95};

// Ten iterations on two ranks; kernels in seconds a rank over all of them.
JobTables Tables(double iteration, double gemm, double copy) {
  JobTables tables;
  tables.world_size = 2;
  for (int i = 0; i < 10; ++i) {
    IterationRow row;
    row.index = Iteration(i);
    row.duration = i == 0 ? 9 : iteration;  // the first holds what is done once
    tables.iterations.push_back(row);
  }
  for (std::uint32_t r = 0; r < 2; ++r) {
    RankTables rank;
    rank.rank = RankId(r);
    rank.breakdown.compute = gemm;
    rank.breakdown.copies = copy;
    rank.kernels = {{"compute", "gemm", 10, gemm, 0, 0, 0}, {"copy", "HtoD", 10, copy, 0, 0, 0}};
    tables.ranks.push_back(rank);
  }
  return tables;
}

TEST(ComparisonTest, NamesTheKernelThatGrew) {
  const JobTables before = Tables(0.1, 0.5, 0.1), after = Tables(0.13, 0.8, 0.1);
  const Comparison comparison = Compare(after, before, kSlower, {});
  EXPECT_TRUE(comparison.slower());
  EXPECT_DOUBLE_EQ(comparison.before, 0.1);
  ASSERT_EQ(comparison.parts.size(), 1u);
  EXPECT_EQ(comparison.parts[0].what, "kernel gemm");
  EXPECT_NEAR(comparison.parts[0].growth(), 0.03, 1e-12);
  Diagnosis diagnosis;
  JudgeComparison(comparison, after, diagnosis);
  ASSERT_EQ(diagnosis.verdicts.size(), 1u);
  const Verdict& verdict = diagnosis.verdicts[0];
  EXPECT_EQ(verdict.cause, Cause::kRegression);
  EXPECT_EQ(verdict.entity.type, EntityType::kJob);
  EXPECT_TRUE(verdict.entity.ranks.empty());
  EXPECT_EQ(verdict.grade, Grade::kEstablished);
  EXPECT_NEAR(verdict.cost.seconds_per_iteration, 0.03, 1e-12);
}

TEST(ComparisonTest, WhatMayBeChanceIsNoRegression) {
  const JobTables before = Tables(0.1, 0.5, 0.1), after = Tables(0.13, 0.8, 0.1);
  const Comparison comparison = Compare(after, before, kByChance, {});
  EXPECT_FALSE(comparison.slower());
  Diagnosis diagnosis;
  JudgeComparison(comparison, after, diagnosis);
  EXPECT_TRUE(diagnosis.verdicts.empty());
  EXPECT_TRUE(diagnosis.abstained.empty());
}

TEST(ComparisonTest, SureButSmallIsNoRegression) {
  const Comparison comparison =
      Compare(Tables(0.104, 0.5, 0.1), Tables(0.1, 0.5, 0.1), kSlower, {});
  EXPECT_EQ(comparison.outcome, Outcome::kSame);
  EXPECT_THAT(SentenceOf(comparison), HasSubstr("No change to speak of"));
}

TEST(ComparisonTest, WithoutIterationsItAbstains) {
  JobTables without = Tables(0.1, 0.5, 0.1);
  without.iterations.clear();
  Diagnosis diagnosis;
  JudgeComparison(Compare(Tables(0.2, 0.5, 0.1), without, kSlower, {}), without, diagnosis);
  EXPECT_TRUE(diagnosis.verdicts.empty());
  EXPECT_EQ(diagnosis.abstained.size(), 1u);
}

TEST(ComparisonTest, WithTooFewIterationsItAbstainsButShowsFigures) {
  Diagnosis diagnosis;
  const Comparison comparison =
      Compare(Tables(0.2, 0.5, 0.1), Tables(0.1, 0.5, 0.1), std::nullopt, {});
  JudgeComparison(comparison, Tables(0.2, 0.5, 0.1), diagnosis);
  EXPECT_EQ(comparison.outcome, Outcome::kUnknown);
  EXPECT_EQ(comparison.kinds.size(), 4u);
  EXPECT_TRUE(diagnosis.verdicts.empty());
  EXPECT_EQ(diagnosis.abstained.size(), 1u);
}

TEST(ComparisonTest, NoChangeIsToldWithItsFigures) {
  const Comparison comparison =
      Compare(Tables(0.101, 0.5, 0.1), Tables(0.1, 0.5, 0.1), kByChance, {});
  EXPECT_EQ(comparison.outcome, Outcome::kSame);
  ASSERT_EQ(comparison.kinds.size(), 4u);
  EXPECT_THAT(SentenceOf(comparison), HasSubstr("101 ms instead of 100 ms (1.01x)"));
}

TEST(ComparisonTest, AFasterJobIsToldAndIsNoVerdict) {
  Diagnosis diagnosis;
  const JobTables after = Tables(0.1, 0.5, 0.1);
  const Comparison comparison = Compare(after, Tables(0.13, 0.8, 0.1), Chances{1, 1e-5}, {});
  JudgeComparison(comparison, after, diagnosis);
  EXPECT_EQ(comparison.outcome, Outcome::kFaster);
  EXPECT_THAT(SentenceOf(comparison), HasSubstr("most of it is compute, the largest part kernel"));
  EXPECT_TRUE(diagnosis.verdicts.empty());
}

// A part that grew is not named as the largest of a kind to which it does not belong.
TEST(ComparisonTest, TheLargestPartIsOfTheKindThatChangedMost) {
  JobTables before = Tables(0.1, 0.5, 0.1), after = Tables(0.2, 0.7, 0.1);
  for (JobTables* tables : {&before, &after}) {
    const double talked = tables == &after ? 0.9 : 0.1;
    for (RankTables& rank : tables->ranks) {
      rank.breakdown.communication = talked;
      rank.kernels.push_back({"op", "c10d::allreduce_", 10, talked / 10, 0, 0, 0});
    }
  }
  const Comparison comparison = Compare(after, before, kSlower, {});
  ASSERT_EQ(comparison.parts.size(), 1u);
  ASSERT_NE(comparison.LeadingKind(), nullptr);
  EXPECT_EQ(comparison.LeadingKind()->what, "communication");
  const std::string sentence = SentenceOf(comparison);
  EXPECT_THAT(sentence, HasSubstr("most of it is communication"));
  EXPECT_EQ(sentence.find("gemm"), std::string::npos);
}

TEST(ComparisonTest, AnotherProgramIsNotCompared) {
  JobTables other = Tables(0.1, 0.5, 0.1);
  for (RankTables& rank : other.ranks) rank.kernels[0].name = "aten::mm";
  Diagnosis diagnosis;
  const JobTables after = Tables(0.2, 0.8, 0.1);
  const Comparison comparison = Compare(after, other, kSlower, {});
  JudgeComparison(comparison, after, diagnosis);
  EXPECT_EQ(comparison.outcome, Outcome::kUnrelated);
  EXPECT_TRUE(diagnosis.verdicts.empty());
  ASSERT_EQ(diagnosis.abstained.size(), 1u);
  EXPECT_THAT(diagnosis.abstained[0].missing, HasSubstr("11 % of the time"));
}

TEST(ComparisonTest, OtherNumbersOfRanksAreNotCompared) {
  JobTables fewer = Tables(0.1, 0.5, 0.1);
  fewer.world_size = 1;
  const Comparison comparison = Compare(Tables(0.2, 0.8, 0.1), fewer, kSlower, {});
  EXPECT_EQ(comparison.outcome, Outcome::kUnrelated);
  EXPECT_THAT(SentenceOf(comparison), HasSubstr("this one has 2 ranks, the other 1"));
}

TEST(ComparisonTest, ARankWithoutARecordingIsNoOtherJob) {
  JobTables fewer = Tables(0.1, 0.5, 0.1);
  fewer.ranks.pop_back();
  EXPECT_TRUE(Compare(Tables(0.2, 0.8, 0.1), fewer, kSlower, {}).slower());
}

}  // namespace
}  // namespace fathom::diagnosis
