// Ranks that wait in messages of which the source does not name the other end.
#include "diagnosis/evidence/unnamed_waits.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "diagnosis/graph/execution_graph.h"

namespace fathom::diagnosis {
namespace {

constexpr int kIterations = 16, kOnset = 8;
constexpr double kUsual = 0.01;
constexpr double kExcess = 0.1;

// Four ranks that receive once an iteration. `more`: what each waits longer since the onset.
JobView ViewOf(const std::vector<double>& more, RankId peer = kNoRank,
               CollectiveKind kind = CollectiveKind::kRecv) {
  JobView view;
  view.world_size = static_cast<std::uint32_t>(more.size());
  for (int i = 0; i < kIterations; ++i) {
    IterationSummary summary;
    summary.index = Iteration(i);
    for (std::uint32_t rank = 0; rank < more.size(); ++rank) {
      RankIteration row;
      row.rank = RankId(rank);
      row.begin = MonoNs(1 + i * 1'000'000'000LL);
      row.blocked = Nanos::FromSeconds(kUsual + (i >= kOnset ? more[rank] : 0));
      summary.ranks.push_back(row);
      CommOp op;
      op.kind = kind;
      op.peer = peer;
      op.iteration = Iteration(i);
      op.enter = row.begin + Nanos(1000);
      op.end = op.enter + row.blocked;
      view.rows[RankId(rank)].ops.push_back(op);
    }
    view.window.push_back(summary);
  }
  return view;
}

double OthersWaitLongerThan(const JobView& view, std::uint32_t rank) {
  const DiagnosisConfig config;
  std::set<Iteration> irregular;
  for (int i = kOnset; i < kIterations; ++i) irregular.insert(Iteration(i));
  const ExecutionGraph graph(view, irregular, Iteration(kOnset), config);
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

TEST(UnnamedWaits, OnlyMessagesWithoutTheirOtherEndCount) {
  EXPECT_TRUE(HasUnnamedMessages(ViewOf({0, 0})));
  EXPECT_FALSE(HasUnnamedMessages(ViewOf({0, 0}, RankId(1))));
  EXPECT_FALSE(HasUnnamedMessages(ViewOf({0, 0}, kNoRank, CollectiveKind::kAllReduce)));
}

}  // namespace
}  // namespace fathom::diagnosis
