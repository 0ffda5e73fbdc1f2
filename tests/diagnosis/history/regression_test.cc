// Drawn runs: who is told to be slower than its history, and who is not.
#include "diagnosis/history/regression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "diagnosis/stats/student_t.h"

namespace fathom::diagnosis {
namespace {

constexpr double kIteration_s = 0.1;

// A machine whose runs differ by `between`, whose iterations by `within`, with a spike now and
// then.
struct Machine {
  double between = 0.003;
  double within = 0.02;
  std::mt19937_64 random{7};

  double Normal(double sigma) { return std::normal_distribution<double>(0, sigma)(random); }

  IterationParts Iteration(double level) {
    IterationParts parts;
    const bool spike = std::uniform_real_distribution<double>(0, 1)(random) < 0.01;
    parts.duration_s = level * std::exp(Normal(within)) * (spike ? 3 : 1);
    parts.computing_s = 0.7 * parts.duration_s;
    return parts;
  }

  // `every`: each so many-th iteration is longer by `extra`; 0: none.
  RunSample Run(std::int64_t iterations, double growth = 0, int every = 0, double extra = 0) {
    const double level = kIteration_s * (1 + growth) * std::exp(Normal(between));
    RunSample sample;
    for (std::int64_t i = 0; i < iterations; ++i) {
      const double warm = i < RunSample::kWarmUp ? 4 : 1;
      const double longer = every > 0 && i % every == 0 ? 1 + extra : 1;
      sample.Add(i, Iteration(level * warm * longer));
    }
    return sample;
  }

  std::vector<Distribution> History(std::size_t runs, std::int64_t end) {
    std::vector<Distribution> out;
    for (std::size_t i = 0; i < runs; ++i) out.push_back(*Run(end).Upto(end));
    return out;
  }

  RunJudgement Judge(std::size_t runs, std::int64_t end, double growth, int every = 0,
                     double extra = 0) {
    const auto history = History(runs, end);
    return JudgeRun(*Run(end, growth, every, extra).Upto(end), history);
  }
};

int Slower(Machine machine, int times, std::size_t runs, std::int64_t end, double growth) {
  int slower = 0;
  for (int i = 0; i < times; ++i) {
    slower += machine.Judge(runs, end, growth).outcome == RunOutcome::kSlower;
  }
  return slower;
}

TEST(HistoryRegression, TellsFivePercentWithinFiftyIterations) {
  EXPECT_GE(Slower(Machine{}, 100, 5, RunSample::kFirst, 0.05), 95);
}

TEST(HistoryRegression, TellsTwoPercentWithinThreeHundredIterations) {
  EXPECT_GE(Slower(Machine{.between = 0.001}, 100, 5, RunSample::kStart, 0.02), 95);
}

TEST(HistoryRegression, HealthyRerunsAreSilent) {
  EXPECT_EQ(Slower(Machine{}, 200, 5, RunSample::kFirst, 0), 0);
  EXPECT_EQ(Slower(Machine{}, 200, 5, RunSample::kStart, 0), 0);
  EXPECT_EQ(Slower(Machine{}, 200, 3, RunSample::kFirst, 0), 0);
}

TEST(HistoryRegression, HealthyRerunsOnANoisyMachineAreSilent) {
  EXPECT_LE(Slower(Machine{.between = 0.03, .within = 0.2}, 200, 5, RunSample::kFirst, 0), 1);
  EXPECT_EQ(Slower(Machine{.between = 0.001, .within = 0.3}, 200, 3, RunSample::kFirst, 0), 0);
}

// Below what is told from by four times what runs differ by: nearer, luck alone would carry one
// over.
TEST(HistoryRegression, ANearMissIsSilent) {
  EXPECT_EQ(Slower(Machine{.between = 0.001}, 100, 5, RunSample::kFirst, 0.01), 0);
  EXPECT_EQ(Slower(Machine{.between = 0.001}, 100, 5, RunSample::kStart, 0.006), 0);
}

TEST(HistoryRegression, NoiseBetweenRunsRaisesWhatIsTold) {
  Machine quiet{.between = 0.002}, noisy{.between = 0.05};
  const double from = quiet.Judge(5, RunSample::kFirst, 0).told_from;
  EXPECT_LT(from, 0.05);
  EXPECT_GT(noisy.Judge(5, RunSample::kFirst, 0).told_from, 2 * from);
}

TEST(HistoryRegression, IterationsThatAreLongerAtTimesShowInTheShape) {
  Machine machine;
  const RunJudgement j = machine.Judge(5, RunSample::kStart, 0, 12, 1.5);
  EXPECT_EQ(j.outcome, RunOutcome::kSlower);
  EXPECT_TRUE(j.by_shape);
  EXPECT_GT(j.after_s, 1.05 * j.before_s);
}

// Of ops some are issued long before, some just before their turn; `ahead`: the share of the first.
Distribution WithIssue(Distribution run, float ahead) {
  run.mean.issued = {};
  run.mean.issued[1] = 1 - ahead;
  run.mean.issued[6] = ahead;
  return run;
}

struct IssueDraw {
  double growth = 0;
  float ahead = 0.8F;
};

int ToldByIssue(Machine machine, int times, const IssueDraw& draw) {
  int told = 0;
  for (int i = 0; i < times; ++i) {
    std::vector<Distribution> history;
    for (const Distribution& each : machine.History(5, RunSample::kStart)) {
      history.push_back(WithIssue(each, 0.8F + static_cast<float>(machine.Normal(0.03))));
    }
    const Distribution run = *machine.Run(RunSample::kStart, draw.growth).Upto(RunSample::kStart);
    const RunJudgement j = JudgeRun(WithIssue(run, draw.ahead), history);
    told += j.outcome == RunOutcome::kSlower && j.issue.fallen;
  }
  return told;
}

// With runs that differ so much, no duration would tell 2.7 percent.
TEST(HistoryRegression, AStraySynchronisationIsToldByIssueLatencyAlone) {
  const Machine machine{.between = 0.006};
  EXPECT_GE(ToldByIssue(machine, 100, {.growth = 0.027, .ahead = 0.1F}), 90);
  EXPECT_LE(Slower(machine, 100, 5, RunSample::kStart, 0.027), 60);
}

TEST(HistoryRegression, IssueLatencyThatFallsCostsNothingByItself) {
  EXPECT_EQ(ToldByIssue(Machine{.between = 0.003}, 200, {.growth = -0.01, .ahead = 0.1F}), 0);
}

// Whose runs differ by a tenth: no iteration tells whether a synchronisation costs 3 percent.
TEST(HistoryRegression, WhereIterationsTellNothingAFarFallIsToldWithoutACost) {
  Machine machine{.between = 0.1};
  EXPECT_GE(ToldByIssue(machine, 100, {.growth = 0.03, .ahead = 0.1F}), 95);
  EXPECT_EQ(ToldByIssue(machine, 100, {.growth = 0.03, .ahead = 0.75F}), 0);
  int unpriced = 0;
  for (int i = 0; i < 20; ++i) {
    std::vector<Distribution> history;
    for (const Distribution& each : machine.History(5, RunSample::kStart)) {
      history.push_back(WithIssue(each, 0.8F));
    }
    const Distribution run = *machine.Run(RunSample::kStart).Upto(RunSample::kStart);
    const RunJudgement j = JudgeRun(WithIssue(run, 0.1F), history);
    unpriced += j.outcome == RunOutcome::kSlower && j.by_issue && j.unpriced;
  }
  EXPECT_GE(unpriced, 15);
}

TEST(HistoryRegression, HealthyRerunsWithIssueLatencyAreSilent) {
  EXPECT_EQ(ToldByIssue(Machine{}, 200, {}), 0);
  EXPECT_EQ(ToldByIssue(Machine{.between = 0.1}, 200, {}), 0);
  EXPECT_EQ(Slower(Machine{}, 200, 5, RunSample::kStart, 0), 0);
}

// Void and operations of a run whose iterations are busy for the rest.
Distribution WithWork(Distribution run, double between_s, double flop) {
  run.mean.void_between_s = between_s;
  run.mean.void_within_s = 0.01;
  run.mean.void_known = run.mean.flop_known = 1;
  run.mean.flop[static_cast<std::size_t>(FlopClass::kFp32)] = flop;
  return run;
}

struct WorkDraw {
  double growth = 0;
  double between_s = 0.02;
  double flop = 1e9;
};

RunJudgement JudgeWork(Machine& machine, const WorkDraw& draw) {
  std::vector<Distribution> history;
  for (const Distribution& each : machine.History(5, RunSample::kStart)) {
    history.push_back(WithWork(each, 0.02 * std::exp(machine.Normal(0.02)), 1e9));
  }
  const Distribution run = *machine.Run(RunSample::kStart, draw.growth).Upto(RunSample::kStart);
  return JudgeRun(WithWork(run, draw.between_s, draw.flop), history);
}

int Told(const Machine& machine, const WorkDraw& draw, bool RunJudgement::*metric) {
  Machine own = machine;
  int told = 0;
  for (int i = 0; i < 100; ++i) {
    const RunJudgement j = JudgeWork(own, draw);
    told += j.outcome == RunOutcome::kSlower && j.*metric;
  }
  return told;
}

// On a machine whose runs differ by 3 percent no duration tells 10 percent more for certain.
TEST(HistoryRegression, MoreOperationsAndMoreVoidAreToldWhereTheDurationIsTooUncertain) {
  const Machine machine{.between = 0.03};
  EXPECT_LE(Slower(machine, 100, 5, RunSample::kStart, 0.1), 40);
  EXPECT_GE(Told(machine, {.growth = 0.1, .flop = 1.1e9}, &RunJudgement::more_work), 80);
  EXPECT_GE(Told(machine, {.growth = 0.1, .between_s = 0.03}, &RunJudgement::more_between), 80);
  EXPECT_GE(Told(machine, {.growth = 0.05, .flop = 1.1e9}, &RunJudgement::more_work), 80);
}

// All runs of a machine have products as fast as it is at the time.
TEST(HistoryRegression, AMachineThatIsSlowerThanUsualByItsOwnNoiseIsSilent) {
  Machine machine{.between = 0.004, .within = 0.4};
  int told = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<Distribution> history;
    for (const Distribution& each : machine.History(4, RunSample::kStart)) {
      history.push_back(WithWork(each, 0.02, 1e9));
    }
    const Distribution run = *machine.Run(RunSample::kStart, 0.05).Upto(RunSample::kStart);
    told += JudgeRun(WithWork(run, 0.02, 1e9), history).outcome == RunOutcome::kSlower;
  }
  EXPECT_LE(told, 5);
}

TEST(HistoryRegression, AMetricThatMovedCostsNothingByItself) {
  const Machine machine{.between = 0.003};
  EXPECT_EQ(Told(machine, {.growth = -0.02, .flop = 1.1e9}, &RunJudgement::more_work), 0);
  EXPECT_EQ(Told(machine, {.growth = -0.02, .between_s = 0.03}, &RunJudgement::more_between), 0);
}

TEST(HistoryRegression, HealthyRerunsWithAllMetricsAreSilent) {
  Machine machine;
  int slower = 0;
  for (int i = 0; i < 200; ++i) {
    slower += JudgeWork(machine, {.between_s = 0.02 * std::exp(machine.Normal(0.02))}).outcome ==
              RunOutcome::kSlower;
  }
  EXPECT_EQ(slower, 0);
}

// As long in all, of which what others take of the machine has become less.
TEST(HistoryRegression, WhatIsLeftWithoutWaitingForCoresIsHeldAgainstTheirs) {
  Machine machine;
  auto history = machine.History(5, RunSample::kStart);
  for (Distribution& each : history) each.net_s = 0.06 * std::exp(machine.Normal(0.003));
  Distribution run = *machine.Run(RunSample::kStart).Upto(RunSample::kStart);
  run.net_s = 0.066;
  const RunJudgement j = JudgeRun(run, history);
  EXPECT_EQ(j.outcome, RunOutcome::kSlower);
  EXPECT_TRUE(j.by_net);
  EXPECT_NEAR(j.growth(), 0.1, 0.02);
  run.net_s = 0;  // of an older version
  EXPECT_EQ(JudgeRun(run, history).outcome, RunOutcome::kSame);
}

TEST(HistoryRegression, AFasterRunIsNoRegression) {
  Machine machine;
  EXPECT_EQ(machine.Judge(5, RunSample::kFirst, -0.2).outcome, RunOutcome::kFaster);
}

TEST(HistoryRegression, TooFewRunsOrIterationsAreNotJudged) {
  Machine machine;
  EXPECT_EQ(machine.Judge(2, RunSample::kFirst, 1).outcome, RunOutcome::kUnknown);
  EXPECT_NE(machine.Judge(2, RunSample::kFirst, 1).why.find("2 of at least 3"), std::string::npos);
  EXPECT_EQ(JudgeRun(Distribution{}, machine.History(5, RunSample::kFirst)).outcome,
            RunOutcome::kUnknown);
  EXPECT_FALSE(machine.Run(2).Upto(RunSample::kFirst));
  EXPECT_FALSE(machine.Run(2).Whole().known());
}

TEST(HistoryRegression, WaitingForCoresIsSomebodyElsesLoad) {
  Machine machine;
  const auto history = machine.History(5, RunSample::kFirst);
  Distribution run = *machine.Run(RunSample::kFirst, 0.3).Upto(RunSample::kFirst);
  run.mean.cores_s = run.mean.duration_s - kIteration_s;
  run.net_s = kIteration_s;
  EXPECT_EQ(JudgeRun(run, history).outcome, RunOutcome::kStarved);
}

TEST(HistoryRegression, NamesTheLeadingPart) {
  IterationParts before{0.1, 0.07, 0.02, 0, 0, 0};
  IterationParts after{0.2, 0.07, 0.02, 0, 0, 0};
  EXPECT_EQ(LeadingPart(before, after), "host time (neither computing nor communicating)");
  after.computing_s = 0.17;
  EXPECT_EQ(LeadingPart(before, after), "computing on the CPU");
  after.dataloader_s = 0.09;
  EXPECT_EQ(LeadingPart(before, after), "waiting for batches");
  EXPECT_EQ(LeadingPart(after, before), "");
}

TEST(RunSample, SickIterationsLeaveAStretchOut) {
  RunSample sample;
  for (std::int64_t i = 0; i < 60; ++i) {
    if (i < 20 || i >= 30) sample.Add(i, {0.1, 0.1, 0, 0, 0, 0});
  }
  EXPECT_FALSE(sample.Upto(RunSample::kFirst));
  EXPECT_EQ(sample.Whole().count, 45);
}

TEST(RunSample, IterationsAgainOrOutOfOrderAreNotTakenTwice) {
  RunSample sample;
  for (const std::int64_t i : {8, 9, 9, 3, 10}) sample.Add(i, {0.1, 0.1, 0, 0, 0, 0});
  EXPECT_EQ(sample.Whole().count, 3);
}

TEST(RunSample, OfALongRunItKeepsAThinnedWhole) {
  Machine machine;
  const RunSample sample = machine.Run(100'000);
  EXPECT_EQ(sample.Whole().count, 100'000 - RunSample::kWarmUp);
  EXPECT_NEAR(sample.Whole().Location(), kIteration_s, 0.002);
}

TEST(StudentT, AgreesWithTables) {
  EXPECT_NEAR(StudentTail(2.132, 4), 0.05, 1e-4);
  EXPECT_NEAR(StudentTail(4.032, 5), 0.005, 1e-5);
  EXPECT_NEAR(StudentTail(6.314, 1), 0.05, 1e-4);
  EXPECT_NEAR(StudentTail(-2.132, 4), 0.95, 1e-4);
  EXPECT_NEAR(StudentQuantile(0.0005, 7), 5.408, 2e-3);
}

// Ten percent longer, all of it alike.
RunJudgement TenPercentLonger() {
  RunJudgement j;
  j.outcome = RunOutcome::kSlower;
  j.before_s = j.before.duration_s = 0.1;
  j.after_s = j.after.duration_s = 0.11;
  return j;
}

MetricShift Moved(double before, double after) {
  MetricShift shift;
  shift.known = true;
  shift.before = before;
  shift.after = after;
  return shift;
}

TEST(RegressionWitness, TheDurationAloneIsNone) { EXPECT_FALSE(Witnessed(TenPercentLonger())); }

TEST(RegressionWitness, OperationsThatRunAsFastAsBeforeAreOne) {
  RunJudgement j = TenPercentLonger();
  j.shifts.rate = Moved(100e9, 99.5e9);
  EXPECT_TRUE(Witnessed(j));
  j.shifts.rate = Moved(100e9, 91e9);  // as a slower machine has it
  EXPECT_FALSE(Witnessed(j));
}

TEST(RegressionWitness, VoidThatGrewOutOfProportionIsOne) {
  RunJudgement j = TenPercentLonger();
  j.more_within = true;
  j.shifts.within = Moved(0.01, 0.018);
  EXPECT_TRUE(Witnessed(j));
  j.shifts.within = Moved(0.05, 0.056);  // in proportion
  EXPECT_FALSE(Witnessed(j));
  j.more_within = false;  // by chance
  j.shifts.within = Moved(0.01, 0.018);
  EXPECT_FALSE(Witnessed(j));
}

TEST(RegressionWitness, MoreOperationsIssueLatencyAndBatchesAreEach) {
  RunJudgement work = TenPercentLonger(), issue = work, batches = work, some = work;
  work.more_work = true;
  EXPECT_TRUE(Witnessed(work));
  issue.issue.fallen = true;
  EXPECT_TRUE(Witnessed(issue));
  batches.after.dataloader_s = 0.008;
  EXPECT_TRUE(Witnessed(batches));
  some.after.dataloader_s = 0.004;
  EXPECT_FALSE(Witnessed(some));
}

// Critical values of Pearson's r, one-sided.
TEST(StudentT, TellsHowLikelyACorrelationIsByChance) {
  EXPECT_NEAR(ChanceOfCorrelation(0.7155, 10), 0.01, 1e-4);
  EXPECT_NEAR(ChanceOfCorrelation(0.8054, 5), 0.05, 1e-4);
  EXPECT_GT(ChanceOfCorrelation(0.9, 10), 1e-4);
  EXPECT_LT(ChanceOfCorrelation(0.9, 11), 1e-4);
  EXPECT_EQ(ChanceOfCorrelation(1, 3), 0);
  EXPECT_EQ(ChanceOfCorrelation(1, 2), 1);
  EXPECT_GT(ChanceOfCorrelation(-0.9, 20), 0.99);
}

}  // namespace
}  // namespace fathom::diagnosis
