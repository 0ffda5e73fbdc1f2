// Through which ops and ranks the chain goes that ends an iteration.
#include "diagnosis/graph/critical_path.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

constexpr std::int64_t kNsOfMs = 1'000'000;

CommOp OnStream(std::uint64_t sequence, std::int64_t enter, std::int64_t start, std::int64_t end) {
  CommOp op;
  op.group = GroupId(1);
  op.sequence = Sequence(sequence);
  op.kind = CollectiveKind::kAllReduce;
  op.bytes = 1 << 20;
  op.iteration = Iteration(1);
  op.on_device = true;
  op.enter = MonoNs(enter * kNsOfMs);
  op.exec_start = MonoNs(start * kNsOfMs);
  op.end = MonoNs(end * kNsOfMs);
  return op;
}

// Two buckets one behind the other on one stream; the rank waits for the second. It enters the
// first at `enter` ms; both ranks are done with it at 170 and with the second at 190.
RankRows Buckets(std::int64_t enter) {
  RankRows rows;
  rows.ops = {OnStream(0, enter, enter, 170), OnStream(1, enter + 10, 170, 190)};
  rows.ops[1].wait_start = rows.ops[1].enter;
  rows.ops[1].wait_end = rows.ops[1].end;
  return rows;
}

bool PathHolds(const std::vector<PathStep>& path, const OpRef& ref, bool transfer) {
  return std::any_of(path.begin(), path.end(), [&](const PathStep& step) {
    return step.ref == ref && step.transfer == transfer;
  });
}

struct QueueJob {
  JobView view;

  QueueJob(std::int64_t first, std::int64_t second) {
    view.world_size = 2;
    view.groups = {{GroupId(1), "", "data", 2, {RankId(0), RankId(1)}}};
    view.rows[RankId(0)] = Buckets(first);
    view.rows[RankId(1)] = Buckets(second);
    // A small op ends the iteration; rank 0 hears of it first.
    for (auto& [rank, rows] : view.rows) {
      CommOp norm = OnStream(2, 191, 191, 193);
      norm.wait_start = norm.enter;
      norm.wait_end = norm.end;
      rows.ops.push_back(norm);
    }
  }
  std::vector<PathStep> Path() const {
    const DiagnosisConfig config;
    const ExecutionGraph graph(view, {Iteration(1)}, Iteration(1), config);
    return CriticalPath(graph, Iteration(1), 0.0005);
  }
};

// Rank 1 enters its first bucket 50 ms late; the second shows nothing of it, for both begin it
// when the first is done.
TEST(CriticalPathTest, AQueueOnAStreamLeadsToWhoCameLateToItsHead) {
  const auto path = QueueJob(100, 150).Path();
  EXPECT_TRUE(PathHolds(path, {1, 0}, false)) << "the work of rank 1 before its first bucket";
  EXPECT_FALSE(PathHolds(path, {0, 0}, false));
}

TEST(CriticalPathTest, AWaitInAQueueIsTheTransfersOfAllThatStandInIt) {
  const auto path = QueueJob(100, 100).Path();
  EXPECT_TRUE(PathHolds(path, {0, 1}, true));
  EXPECT_TRUE(PathHolds(path, {0, 0}, true));
}

}  // namespace
}  // namespace fathom::diagnosis
