// Ranks that wait in messages of which the source does not name the other end.
#include "diagnosis/slowness/judge/unnamed_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "diagnosis/graph/execution_graph.h"
#include "diagnosis/slowness/judge/judge.h"

namespace fathom::diagnosis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kIterations = 16, kOnset = 8;
constexpr double kUsual = 0.01;
constexpr double kExcess = 0.1;

// Ranks that receive once an iteration. `more`: what each waits longer since the onset; of that
// `in_message` in the message, else in what is not here.
JobView ViewOf(const std::vector<double>& more, RankId peer = kNoRank,
               CollectiveKind kind = CollectiveKind::kRecv, double in_message = 1) {
  JobView view;
  view.world_size = static_cast<std::uint32_t>(more.size());
  for (int i = 0; i < kIterations; ++i) {
    IterationSummary summary;
    summary.index = Iteration(i);
    for (std::uint32_t rank = 0; rank < more.size(); ++rank) {
      RankIteration row;
      row.rank = RankId(rank);
      row.begin = MonoNs(1 + i * 1'000'000'000LL);
      const double longer = i >= kOnset ? more[rank] : 0;
      row.duration = Nanos(1'000'000'000);
      row.blocked = Nanos::FromSeconds(kUsual + longer);
      summary.ranks.push_back(row);
      CommOp op;
      op.kind = kind;
      op.peer = peer;
      op.iteration = Iteration(i);
      op.enter = row.begin + Nanos(1000);
      op.end = op.enter + Nanos::FromSeconds(kUsual + in_message * longer);
      op.api_return = op.end;
      view.rows[RankId(rank)].ops.push_back(op);
    }
    view.window.push_back(summary);
  }
  return view;
}

ExecutionGraph GraphOf(const JobView& view, const DiagnosisConfig& config) {
  std::set<Iteration> irregular;
  for (int i = kOnset; i < kIterations; ++i) irregular.insert(Iteration(i));
  return {view, irregular, Iteration(kOnset), config};
}

double OthersWaitLongerThan(const JobView& view, std::uint32_t rank) {
  const DiagnosisConfig config;
  const ExecutionGraph graph = GraphOf(view, config);
  const Suspicion suspicion;
  Ledger ledger;
  ledger.excess = kExcess;
  return OthersWaitLonger({view, suspicion, graph, config}, ledger, RankId(rank));
}

TEST(UnnamedWaits, TheOnlyRankThatWaitsNoLongerIsWaitedFor) {
  const JobView view = ViewOf({0.1, 0.005, 0.09, 0.1});
  EXPECT_NEAR(OthersWaitLongerThan(view, 1), 0.09, 1e-9);
  EXPECT_EQ(OthersWaitLongerThan(view, 0), 0) << "it waits longer itself";
}

TEST(UnnamedWaits, OneOfSeveralThatWaitNoLongerIsNot) {
  EXPECT_EQ(OthersWaitLongerThan(ViewOf({0.1, 0, 0.02, 0.1}), 1), 0);
  EXPECT_EQ(OthersWaitLongerThan(ViewOf({0, 0, 0, 0}), 1), 0) << "healthy";
  EXPECT_EQ(OthersWaitLongerThan(ViewOf({0.1, 0.1, 0.1, 0.1}), 1), 0) << "a slow network";
}

// The network became slower, and rank 1, which used to wait, has no slack left: the others wait
// longer in their collectives, and the message each of them receives takes as long as ever.
TEST(UnnamedWaits, AMessageOfAnIterationDoesNotSpeakForItsCollectives) {
  const auto wait = [](double in_message) {
    return OthersWaitLongerThan(
        ViewOf({0.1, 0, 0.1, 0.1}, kNoRank, CollectiveKind::kRecv, in_message), 1);
  };
  EXPECT_NEAR(wait(1), 0.1, 1e-9);
  EXPECT_EQ(wait(0), 0);
  EXPECT_EQ(wait(0.4), 0) << "enough to explain the excess, but the least of their waits";
  EXPECT_EQ(OthersWaitLongerThan(ViewOf({0.1, 0, 0.1, 0.1}, RankId(1)), 1), 0) << "named";
}

TEST(UnnamedWaits, MessagesInFlightTogetherAreWaitedForOnce) {
  JobView view = ViewOf({0.1, 0, 0.1, 0.1}, kNoRank, CollectiveKind::kRecv, 0.35);
  for (auto& [rank, rows] : view.rows) {
    const std::vector<CommOp> once = rows.ops;
    rows.ops.insert(rows.ops.end(), once.begin(), once.end());
  }
  EXPECT_EQ(OthersWaitLongerThan(view, 1), 0) << "0.35 twice over is no 0.7";
}

// Rank 1 takes longer, and nobody is seen to wait for it.
std::string MissingIn(const JobView& view) {
  const DiagnosisConfig config;
  const ExecutionGraph graph = GraphOf(view, config);
  const Suspicion suspicion;
  Ledger ledger;
  ledger.iterations = ledger.baseline_iterations = kOnset;
  ledger.excess = ledger.expected = kExcess;
  for (std::uint32_t rank = 0; rank < view.world_size; ++rank) {
    RankAccount account;
    account.rank = RankId(rank);
    account.judged = kOnset;
    if (rank == 1) account.shows = kOnset;
    if (rank == 1) account.share.assign(kOnset, 1);
    if (rank == 1) account.typical.total = account.typical.compute = kExcess;
    ledger.ranks.push_back(account);
  }
  Findings findings;
  JudgeSlowness({view, suspicion, graph, config}, ledger, findings);
  return findings.abstained.size() == 1 ? findings.abstained[0].missing : "";
}

TEST(UnnamedWaits, OnlyARecordingOfPyTorchsProfilerIsAskedForShapes) {
  JobView view = ViewOf({0, 0, 0, 0});
  EXPECT_THAT(MissingIn(view), HasSubstr("a wait of others for rank 1"));
  EXPECT_THAT(MissingIn(view), HasSubstr("record_shapes=True"));
  view.iterations_seen = kIterations;
  EXPECT_THAT(MissingIn(view), HasSubstr("the other end of some sends and receives is not known"));
  EXPECT_THAT(MissingIn(view), Not(HasSubstr("record_shapes")));
}

TEST(UnnamedWaits, OnlyMessagesWithoutTheirOtherEndCount) {
  EXPECT_TRUE(HasUnnamedMessages(ViewOf({0, 0})));
  EXPECT_FALSE(HasUnnamedMessages(ViewOf({0, 0}, RankId(1))));
  EXPECT_FALSE(HasUnnamedMessages(ViewOf({0, 0}, kNoRank, CollectiveKind::kAllReduce)));
}

}  // namespace
}  // namespace fathom::diagnosis
