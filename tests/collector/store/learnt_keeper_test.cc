// Two collectors, one after the other, over one store, look at a job that was slow when the first
// one ended.
#include "collector/store/learnt_keeper.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "diagnosis/watch/watch.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

constexpr std::uint32_t kUsualUs = 100'000, kSlowUs = 160'000;
constexpr int kOnset = 40;

// What a collector knows of the job, fed iteration by iteration.
class Life {
 public:
  Life(Store& store, const FakeClock& clock) : keeper_(store, clock), job_("train", clock) {}

  void Begin(std::uint32_t restarts = 0) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      v1::RankInfo info = RankOf(rank, 2);
      info.set_restart_count(restarts);
      if (restarts > 0) {
        info.set_start_time_ticks(500);
        info.set_started_wall_ns(FakeClock::kStart + 3'600'000'000'000);
      }
      job_.Apply(info, "n0", 10);
    }
    keeper_.Met(job_);
    Look();  // nobody has told of an iteration yet
  }
  // Other processes of the same job, that began before the first ones by the wall clock.
  void BeginAs(std::uint32_t pid) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      v1::RankInfo info = RankOf(rank, 2);
      info.set_pid(pid + rank);
      info.set_start_time_ticks(9'000 + rank);
      info.set_started_wall_ns(FakeClock::kStart - 7'100'000'000'000);
      job_.Apply(info, "n0", 10);
    }
    keeper_.Met(job_);
    Look();
  }
  // `own`: the ranks' own number; `at_us`: since iteration 0 began.
  void Tell(std::int64_t own, std::int64_t at_us, std::uint32_t duration_us) {
    Bring(own, at_us, duration_us);
    Look();
  }
  void Bring(std::int64_t own, std::int64_t at_us, std::uint32_t duration_us) {
    BatchShape shape;
    shape.first = own;
    shape.duration_us = duration_us;
    shape.begin_mono_ns += 1000 * (at_us - own * duration_us);
    shape.anchor += 5 * static_cast<std::uint64_t>(own + behind_);
    for (shape.rank = 0; shape.rank < 2; ++shape.rank) {
      ASSERT_FALSE(job_.Apply(Batch(shape), "n0").rejected);
    }
  }
  // The ranks count so many iterations less than the first collector numbered.
  void CountLess(std::int64_t by) { behind_ = by; }
  void Look() {
    const auto view = job_.View([](std::string_view) { return true; });
    suspicion_ = diagnosis::Watch(view, {});
    job_.SetSuspicion(suspicion_);
    keeper_.Looked(job_);
  }
  const diagnosis::Suspicion& suspicion() const { return suspicion_; }
  JobFigures figures() const { return job_.Figures(); }

 private:
  LearntKeeper keeper_;
  JobState job_;
  std::int64_t behind_ = 0;
  diagnosis::Suspicion suspicion_;
};

struct LearntKeeperTest : testing::Test {
  std::string file = (std::filesystem::temp_directory_path() /
                      ("fathom_learnt_" + std::to_string(::getpid()) + ".db"))
                         .string();
  FakeClock clock;
  std::unique_ptr<Store> store = Store::Open(file);
  std::int64_t iteration = 0, at_us = 0;

  void TearDown() override {
    store.reset();
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(file + end);
  }
  // `less`: by so much the ranks' own numbers are less than those of the first collector.
  void Pass(Life& life, int count, std::uint32_t duration_us, std::int64_t less = 0) {
    for (int i = 0; i < count; ++i) {
      life.Tell(iteration++ - less, at_us, duration_us);
      at_us += duration_us;
      clock.Advance(Nanos(std::int64_t{1000} * duration_us));
    }
  }
  void BecomeSlow() {
    Life first(*store, clock);
    first.Begin();
    Pass(first, kOnset, kUsualUs);
    Pass(first, 120, kSlowUs);
    ASSERT_TRUE(first.suspicion().slow);
    store.reset();
    store.reset();  // one collector a file
    store = Store::Open(file);
  }
};

TEST_F(LearntKeeperTest, AJobThatWasSlowIsSlowToTheNextCollector) {
  BecomeSlow();
  Life second(*store, clock);
  second.Begin();
  Pass(second, 3, kSlowUs);
  EXPECT_TRUE(second.figures().recalled);
  ASSERT_TRUE(second.suspicion().slow);
  EXPECT_EQ(second.suspicion().onset, Iteration(kOnset));
  EXPECT_NEAR(second.suspicion().expected.Seconds(), 0.1, 1e-3);
  Pass(second, 30, kSlowUs);
  EXPECT_TRUE(second.suspicion().slow);
  Pass(second, 15, kUsualUs);
  EXPECT_FALSE(second.suspicion().slow);
  EXPECT_TRUE(second.suspicion().settled);
}

// While no collector was there the agents kept what they had to say, and bring it at once.
TEST_F(LearntKeeperTest, ABacklogDoesNotMakeSlowTheUsual) {
  for (const int backlog : {4, 15, 60}) {
    SCOPED_TRACE(backlog);
    TearDown();
    store.reset();  // one collector a file
    store = Store::Open(file);
    iteration = at_us = 0;
    BecomeSlow();
    Life second(*store, clock);
    second.Begin();
    for (int i = 0; i < backlog; ++i) {
      second.Bring(iteration++, at_us, kSlowUs);
      at_us += kSlowUs;
      clock.Advance(Nanos(std::int64_t{1000} * kSlowUs));
    }
    second.Look();
    EXPECT_TRUE(second.suspicion().slow);
    EXPECT_EQ(second.suspicion().onset, Iteration(kOnset));
    EXPECT_NEAR(second.suspicion().expected.Seconds(), 0.1, 1e-3);
  }
}

TEST_F(LearntKeeperTest, NumbersOfAnotherRankAreTranslated) {
  BecomeSlow();
  Life second(*store, clock);
  second.Begin();
  iteration -= 70, at_us -= 70 * std::int64_t{kSlowUs};  // an agent tells its last ones again
  Pass(second, 73, kSlowUs, 7);
  ASSERT_TRUE(second.suspicion().slow);
  EXPECT_EQ(second.suspicion().onset, Iteration(kOnset - 7));
}

// A log that was cut begins with another rank, whose agent found its period later.
TEST_F(LearntKeeperTest, NumbersGoOnWhereAnotherRankComesFirst) {
  BecomeSlow();
  Life second(*store, clock);
  second.Begin();
  second.CountLess(7);
  iteration -= 30, at_us -= 30 * std::int64_t{kSlowUs};
  Pass(second, 33, kSlowUs, 7);
  EXPECT_EQ(second.figures().iteration, iteration - 1);
  ASSERT_TRUE(second.suspicion().slow);
  EXPECT_EQ(second.suspicion().onset, Iteration(kOnset));
}

TEST_F(LearntKeeperTest, AJobThatIsWellIsNotLearntAnew) {
  Life first(*store, clock);
  first.Begin();
  Pass(first, 140, kUsualUs);
  Life second(*store, clock);
  second.Begin();
  Pass(second, 1, kUsualUs);
  EXPECT_NEAR(second.suspicion().expected.Seconds(), 0.1, 1e-3);
  Pass(second, 8, kSlowUs);
  EXPECT_TRUE(second.suspicion().slow) << "a collector that began anew would call it usual";
}

TEST_F(LearntKeeperTest, AnotherLifeOfTheJobLearnsForItself) {
  BecomeSlow();
  Life second(*store, clock);
  second.Begin(1);
  iteration = 0;
  Pass(second, 30, kSlowUs);
  EXPECT_FALSE(second.figures().recalled);
  EXPECT_FALSE(second.suspicion().slow);
  EXPECT_NEAR(second.suspicion().expected.Seconds(), 0.16, 1e-3);
}

TEST_F(LearntKeeperTest, AnAgentThatCountsFromAnewChangesNothing) {
  BecomeSlow();
  Life second(*store, clock);
  second.Begin();
  iteration = 0;
  Pass(second, 10, kSlowUs);
  ASSERT_TRUE(second.suspicion().slow);
  EXPECT_EQ(second.suspicion().onset, Iteration(0)) << "it began before the first of now";
  EXPECT_NEAR(second.suspicion().expected.Seconds(), 0.1, 1e-3);
}

TEST_F(LearntKeeperTest, AClockThatWasSetLosesNothing) {
  for (const std::int64_t by_s : {-3600, -60, -10, 60, 3600}) {
    SCOPED_TRACE(by_s);
    TearDown();
    store = Store::Open(file);
    iteration = at_us = 0;
    BecomeSlow();
    clock.Advance(Nanos::FromSeconds(static_cast<double>(by_s)));
    Life second(*store, clock);
    second.Begin();
    at_us += by_s * 1'000'000;
    Pass(second, 30, kSlowUs);
    EXPECT_TRUE(second.figures().recalled);
    EXPECT_TRUE(second.suspicion().slow);
    EXPECT_EQ(second.suspicion().onset, Iteration(kOnset));
    EXPECT_NEAR(second.suspicion().expected.Seconds(), 0.1, 1e-3);
  }
}

// By the wall clock it is older than what was learnt of another one.
TEST_F(LearntKeeperTest, AClockThatWasSetBackRecallsNoOtherLife) {
  BecomeSlow();
  clock.AdvanceSeconds(-7200);
  Life second(*store, clock);
  second.BeginAs(7000);
  iteration = 0, at_us -= 7'200'000'000;
  Pass(second, 30, kSlowUs);
  EXPECT_FALSE(second.figures().recalled);
  EXPECT_FALSE(second.suspicion().slow);
}

TEST_F(LearntKeeperTest, ARecordThatIsDamagedIsNone) {
  Learnt learnt;
  learnt.kept = clock.Wall();
  learnt.past.push_back({Iteration(1), clock.Wall(), Nanos(5), false});
  ASSERT_TRUE(store->Save("train", learnt).ok());
  ASSERT_TRUE(store->FindLearnt("train"));
  EXPECT_FALSE(store->FindLearnt("train")->past.front().regular);
  EXPECT_FALSE(store->FindLearnt("other"));
  auto database = Database::Open(file);
  ASSERT_TRUE(database.ok());
  // Cut; columns of different lengths; likewise of a numbering.
  for (const char* bad : {"08", "4802", "7203120105"}) {
    const std::string put = std::string("UPDATE learnt SET message = x'") + bad + "'";
    ASSERT_TRUE((*database)->Execute(put).ok());
    EXPECT_FALSE(store->FindLearnt("train")) << bad;
  }
}

}  // namespace
}  // namespace fathom::collector
