// Views that no honest agent would send: nothing crashes, and every figure is a number.
#include <cmath>
#include <random>

#include "diagnosis/engine/diagnose.h"
#include "gtest/gtest.h"
#include "tests/diagnosis/job_builder.h"

namespace fathom::diagnosis {
namespace {

class Vandal {
 public:
  explicit Vandal(std::uint64_t seed) : random_(seed) {}

  void Spoil(JobView& view) {
    for (auto& [rank, rows] : view.rows) {
      for (CommOp& op : rows.ops) {
        if (Chance()) SpoilOp(op);
      }
      if (Chance()) std::shuffle(rows.ops.begin(), rows.ops.end(), random_);
    }
    for (IterationSummary& it : view.window) {
      if (Chance()) it.ranks.resize(random_() % (it.ranks.size() + 1));
      for (RankIteration& rank : it.ranks) {
        if (Chance()) rank.duration = Nanos(Any());
        if (Chance()) rank.blocked = Nanos(Any());
        if (Chance()) rank.begin = MonoNs(Any());
      }
    }
    for (Group& group : view.groups) {
      if (Chance()) group.members.push_back(RankId(static_cast<std::uint32_t>(random_())));
    }
    for (RankFacts& facts : view.ranks) SpoilFacts(facts);
    if (Chance()) view.world_size = 0;
    if (Chance()) view.ranks.clear();
  }

 private:
  bool Chance() { return random_() % 12 == 0; }
  std::int64_t Any() {
    return static_cast<std::int64_t>(random_() % 2'000'000'000'000) - 500'000'000'000;
  }

  void SpoilOp(CommOp& op) {
    for (MonoNs* time : {&op.enter, &op.api_return, &op.end, &op.wait_start, &op.wait_end}) {
      if (Chance()) *time = MonoNs(Any());
    }
    if (Chance()) op.iteration = Iteration(static_cast<std::int64_t>(random_() % 100) - 2);
    if (Chance()) op.sequence = Sequence(random_());
    if (Chance()) op.peer = RankId(static_cast<std::uint32_t>(random_()));
    if (Chance()) op.kind = static_cast<CollectiveKind>(random_() % kCollectiveKindCount);
    if (Chance()) op.cpu_at_enter = Nanos(Any());
  }

  void SpoilFacts(RankFacts& facts) {
    facts.state = static_cast<ProcessState>(random_() % 7);
    facts.silent_for = Nanos(Any());
    facts.cpu_while_silent = Nanos(Any());
    if (Chance()) facts.typical_iteration = Nanos(Any());
    if (Chance()) facts.groups.clear();
    for (int i = 0; i < 3; ++i) {
      OpenOp op;
      op.group = GroupId(100 + random_() % 3);
      op.sequence = Sequence(random_() % 4);
      op.kind = static_cast<CollectiveKind>(random_() % kCollectiveKindCount);
      op.peer = RankId(static_cast<std::uint32_t>(random_() % 6));
      op.age = Nanos(Any());
      facts.open_ops.push_back(op);
    }
  }

  std::mt19937_64 random_;
};

TEST(GarbageTest, NothingCrashesAndFiguresAreNumbers) {
  for (std::uint64_t seed = 1; seed <= 90; ++seed) {
    testing::JobSpec spec;
    spec.type = static_cast<testing::JobType>(seed % 3);
    spec.seed = seed;
    spec.iterations = 30;
    spec.faults = {{testing::FaultKind::kSleep, 2, 15}};
    JobView view = testing::PlayJob(spec);
    Vandal(seed).Spoil(view);
    Suspicion suspicion = Watch(view, {});
    suspicion.slow = suspicion.stalled = true;  // so that every rule runs
    const Diagnosis diagnosis = Diagnose(view, suspicion, {});
    for (const Verdict& verdict : diagnosis.verdicts) {
      EXPECT_TRUE(std::isfinite(verdict.cost.slowdown)) << seed;
      EXPECT_TRUE(std::isfinite(verdict.cost.gpu_hours)) << seed;
      EXPECT_TRUE(std::isfinite(verdict.posterior_odds)) << seed;
      for (const Evidence& e : verdict.evidence) EXPECT_TRUE(std::isfinite(e.value)) << seed;
    }
    EXPECT_TRUE(std::isfinite(diagnosis.slowdown));
  }
}

}  // namespace
}  // namespace fathom::diagnosis
