// Two recordings against each other: slower or not, and what grew.
#include "diagnosis/tables/comparison.h"

#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

// Ten iterations on two ranks; kernels in seconds a rank over all of them.
JobTables Tables(double iteration, double gemm, double copy) {
  JobTables tables;
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
  const Comparison comparison = Compare(after, before, 1e-5, {});
  EXPECT_TRUE(comparison.slower);
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
  const Comparison comparison = Compare(after, before, 0.05, {});
  EXPECT_FALSE(comparison.slower);
  Diagnosis diagnosis;
  JudgeComparison(comparison, after, diagnosis);
  EXPECT_TRUE(diagnosis.verdicts.empty());
  EXPECT_TRUE(diagnosis.abstained.empty());
}

TEST(ComparisonTest, SureButSmallIsNoRegression) {
  EXPECT_FALSE(Compare(Tables(0.104, 0.5, 0.1), Tables(0.1, 0.5, 0.1), 1e-9, {}).slower);
}

TEST(ComparisonTest, WithoutIterationsItAbstains) {
  JobTables without = Tables(0.1, 0.5, 0.1);
  without.iterations.clear();
  Diagnosis diagnosis;
  JudgeComparison(Compare(Tables(0.2, 0.5, 0.1), without, 1e-9, {}), without, diagnosis);
  EXPECT_TRUE(diagnosis.verdicts.empty());
  EXPECT_EQ(diagnosis.abstained.size(), 1u);
}

}  // namespace
}  // namespace fathom::diagnosis
