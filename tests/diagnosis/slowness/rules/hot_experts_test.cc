// A job whose ranks hand each other tokens: who gets more, and who computes longer.
#include "diagnosis/slowness/rules/hot_experts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "diagnosis/engine/diagnose.h"

namespace fathom::diagnosis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint32_t kRanks = 4;
constexpr double kUsualMs = 20;  // of work on one share of tokens

// What a rank gets in an iteration, as multiples of an even share, and how slow it is.
struct Routed {
  std::function<double(std::uint32_t, int)> tokens = [](std::uint32_t, int) { return 1.0; };
  std::function<double(std::uint32_t, int)> slowness = [](std::uint32_t, int) { return 1.0; };
  bool sizes = true;
  int iterations = 30;
};

double SteadyAt2(std::uint32_t rank, int) { return rank == 2 ? 2.5 : 0.5; }
double Shifting(std::uint32_t rank, int iteration) {
  return rank == static_cast<std::uint32_t>(iteration * 7 % 5) % kRanks ? 2.5 : 0.5;
}
double SlowAt2(std::uint32_t rank, int) { return rank == 2 ? 2.5 : 1.0; }

Nanos Ms(double ms) { return Nanos::FromSeconds(ms * 1e-3); }

// Dispatch, the experts' work, combine, dense work, all-reduce.
void AddOps(const Routed& job, std::uint32_t rank, int iteration, double& cpu_ms, JobView& view) {
  const double tokens = job.tokens(rank, iteration);
  const double jitter = 1 + 0.02 * static_cast<double>((iteration + rank) % 3);
  const double work[] = {kUsualMs * tokens * job.slowness(rank, iteration) * jitter, 5 * jitter,
                         2 * jitter};
  const double bytes[] = {1e6 * tokens, 1e6, 1e6};
  for (int i = 0; i < 3; ++i) {
    CommOp op;
    op.group = GroupId(7);
    op.sequence = Sequence(static_cast<std::uint64_t>(iteration * 3 + i));
    op.kind = i < 2 ? CollectiveKind::kAllToAll : CollectiveKind::kAllReduce;
    op.bytes = job.sizes ? static_cast<std::uint64_t>(bytes[i]) : 0;
    op.iteration = Iteration(iteration);
    op.enter = MonoNs(1'000'000'000LL * (iteration + 1) + 100'000'000LL * i);
    op.end = op.enter + Ms(1);
    op.cpu_at_enter = Ms(cpu_ms);
    view.rows[RankId(rank)].ops.push_back(op);
    cpu_ms += work[i];
  }
}

JobView Play(const Routed& job) {
  JobView view;
  view.world_size = kRanks;
  view.groups.push_back({GroupId(7), "7", "EXPERT", kRanks, {}, false});
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    view.groups[0].members.push_back(RankId(rank));
    view.ranks.emplace_back().rank = RankId(rank);
    double cpu_ms = 100;
    for (int i = 0; i < job.iterations; ++i) AddOps(job, rank, i, cpu_ms, view);
  }
  for (int i = 0; i < job.iterations; ++i) {
    IterationSummary summary;
    summary.index = Iteration(i);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      RankIteration& of_rank = summary.ranks.emplace_back();
      of_rank.rank = RankId(rank);
      of_rank.duration = Ms(70);
      of_rank.blocked = Ms(20);
    }
    view.window.push_back(std::move(summary));
  }
  return view;
}

Findings Examine(const Routed& job, bool slow = false) {
  const JobView view = Play(job);
  const DiagnosisConfig config;
  Suspicion suspicion;
  suspicion.slow = slow;
  const ExecutionGraph graph(view, {}, Iteration(-1), config);
  Findings findings;
  HotExpertsRule().examine({view, suspicion, graph, config}, findings);
  return findings;
}

TEST(HotExperts, NamesTheExpertsThatAlwaysGetMore) {
  const Findings found = Examine({.tokens = SteadyAt2});
  ASSERT_THAT(found.verdicts, SizeIs(1));
  const Verdict& verdict = found.verdicts[0];
  EXPECT_EQ(verdict.cause, Cause::kImbalance);
  EXPECT_EQ(verdict.grade, Grade::kSupported);
  EXPECT_EQ(verdict.owner, Owner::kAlgorithm);
  EXPECT_EQ(verdict.entity.type, EntityType::kGroup);
  EXPECT_THAT(verdict.entity.ranks, ElementsAre(RankId(2)));
  EXPECT_THAT(verdict.sentence, HasSubstr("The experts on rank 2 get 2.5 times as many tokens"));
  // 50 ms against a mean of 20 ms.
  EXPECT_NEAR(verdict.cost.seconds_per_iteration, 0.030, 0.002);
}

TEST(HotExperts, NamesThoseThatGetMoreInTurn) {
  const Findings found = Examine({.tokens = Shifting});
  ASSERT_THAT(found.verdicts, SizeIs(1));
  EXPECT_THAT(found.verdicts[0].entity.ranks, SizeIs(kRanks));
  EXPECT_THAT(found.verdicts[0].sentence, HasSubstr("in turn"));
}

TEST(HotExperts, FewIterationsGiveALead) {
  const Findings found = Examine({.tokens = SteadyAt2, .iterations = 10});
  ASSERT_THAT(found.verdicts, SizeIs(1));
  EXPECT_EQ(found.verdicts[0].grade, Grade::kHypothesis);
}

TEST(HotExperts, NearMissALittleMoreThanOthers) {
  const auto a_little = [](std::uint32_t rank, int) { return rank == 2 ? 1.09 : 0.97; };
  EXPECT_THAT(Examine({.tokens = a_little}).verdicts, IsEmpty());
}

TEST(HotExperts, MissingSizesAreSaidOfASlowJobOnly) {
  const Findings slow = Examine({.tokens = SteadyAt2, .sizes = false}, true);
  EXPECT_THAT(slow.verdicts, IsEmpty());
  ASSERT_THAT(slow.abstained, SizeIs(1));
  EXPECT_THAT(slow.abstained[0].missing, HasSubstr("record_shapes"));
  EXPECT_THAT(Examine({.tokens = SteadyAt2, .sizes = false}).abstained, IsEmpty());
}

TEST(HotExperts, ConfuserASlowRankWithAsManyTokens) {
  EXPECT_THAT(Examine({.slowness = SlowAt2}).verdicts, IsEmpty());
}

TEST(HotExperts, ConfuserTokensInTurnWhileOneRankIsSlow) {
  EXPECT_THAT(Examine({.tokens = Shifting, .slowness = SlowAt2}).verdicts, IsEmpty());
}

TEST(HotExperts, ConfuserARankThatIsSlowBesides) {
  EXPECT_THAT(Examine({.tokens = SteadyAt2, .slowness = SlowAt2}).verdicts, IsEmpty());
}

TEST(HotExperts, ConfuserBytesThatMakeNoWork) {
  const auto undo = [](std::uint32_t rank, int i) { return 1 / SteadyAt2(rank, i); };
  EXPECT_THAT(Examine({.tokens = SteadyAt2, .slowness = undo}).verdicts, IsEmpty());
}

TEST(HotExperts, HealthyIsSilent) { EXPECT_THAT(Examine({}).verdicts, IsEmpty()); }

TEST(HotExperts, MissingRowsOfAMemberProveNothing) {
  JobView view = Play({.tokens = SteadyAt2});
  view.rows.erase(RankId(0));
  const DiagnosisConfig config;
  const Suspicion suspicion;
  const ExecutionGraph graph(view, {}, Iteration(-1), config);
  Findings findings;
  HotExpertsRule().examine({view, suspicion, graph, config}, findings);
  EXPECT_THAT(findings.verdicts, IsEmpty());
}

Verdict Slow(std::uint32_t rank, Cause cause) {
  Verdict verdict;
  verdict.cause = cause;
  verdict.entity.ranks = {RankId(rank)};
  return verdict;
}

TEST(HotExperts, SparesOnlyWhomTokensExplain) {
  std::vector<Verdict> verdicts = Examine({.tokens = SteadyAt2}).verdicts;
  verdicts.push_back(Slow(2, Cause::kComputeSlow));
  verdicts.push_back(Slow(1, Cause::kComputeSlow));
  verdicts.push_back(Slow(2, Cause::kGc));
  SpareLoadedRanks(verdicts, DiagnosisConfig());
  ASSERT_THAT(verdicts, SizeIs(3));
  EXPECT_THAT(verdicts[1].entity.ranks, ElementsAre(RankId(1)));
  EXPECT_EQ(verdicts[2].cause, Cause::kGc);
  verdicts = {Slow(2, Cause::kComputeSlow)};
  SpareLoadedRanks(verdicts, DiagnosisConfig());
  EXPECT_THAT(verdicts, SizeIs(1));
}

TEST(HotExperts, ARankThatBecameSlowLaterIsNotSpared) {
  std::vector<Verdict> verdicts = Examine({.tokens = SteadyAt2}).verdicts;
  ASSERT_THAT(verdicts, SizeIs(1));
  const std::int64_t loaded = verdicts[0].since_iteration.value;
  verdicts.push_back(Slow(2, Cause::kComputeSlow));
  verdicts[1].since_iteration = Iteration(loaded + DiagnosisConfig().onset_slack() + 1);
  SpareLoadedRanks(verdicts, DiagnosisConfig());
  EXPECT_THAT(verdicts, SizeIs(2));
  verdicts[1].since_iteration = Iteration(loaded + DiagnosisConfig().onset_slack());
  SpareLoadedRanks(verdicts, DiagnosisConfig());
  EXPECT_THAT(verdicts, SizeIs(1));
}

}  // namespace
}  // namespace fathom::diagnosis
