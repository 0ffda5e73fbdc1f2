#include "collector/verdict/verdict_ledger.h"

#include <gtest/gtest.h>

#include "tests/collector/fake_clock.h"

namespace fathom::collector {
namespace {

constexpr Nanos kPatience{600'000'000'000};

Episode Stored(const std::string& id, const std::string& job) {
  Episode episode;
  episode.id = id;
  episode.job = job;
  episode.verdict.grade = diagnosis::Grade::kEstablished;
  episode.verdict.cause = diagnosis::Cause::kComputeSlow;
  episode.verdict.entity.ranks = {RankId(2)};
  return episode;
}

struct VerdictLedgerTest : testing::Test {
  FakeClock clock;
  std::vector<std::pair<VerdictChange, Episode>> told;
  VerdictLedger ledger{
      [this](VerdictChange change, const Episode& episode) { told.emplace_back(change, episode); }};
  std::string known = "here";

  void Sweep(double seconds) {
    clock.AdvanceSeconds(seconds);
    ledger.CloseAbsent(clock.Wall(), clock.Mono(), kPatience,
                       [this](const std::string& job) { return job == known; });
  }
};

TEST_F(VerdictLedgerTest, AVerdictOfAJobThatDoesNotComeBackIsClosed) {
  ledger.Adopt(Stored("v1", "gone"));
  ledger.Adopt(Stored("v2", "here"));
  Sweep(1);
  Sweep(kPatience.Seconds() - 1);
  EXPECT_TRUE(told.empty()) << "its agents may still come";
  Sweep(2);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].first, VerdictChange::kClosed);
  EXPECT_EQ(told[0].second.id, "v1");
  EXPECT_EQ(told[0].second.closed_because, VerdictLedger::kNotHeardOf);
  ASSERT_EQ(ledger.Open().size(), 1u);
  EXPECT_EQ(ledger.Open()[0].id, "v2");
  Sweep(kPatience.Seconds() * 2);
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(VerdictLedgerTest, AJobThatWasForgottenAgesFromItsLastChangeOn) {
  ledger.Adopt(Stored("v2", "here"));
  Sweep(kPatience.Seconds() * 3);
  known.clear();
  Sweep(1);
  EXPECT_TRUE(told.empty());
  Sweep(kPatience.Seconds());
  EXPECT_EQ(told.size(), 1u);
}

}  // namespace
}  // namespace fathom::collector
