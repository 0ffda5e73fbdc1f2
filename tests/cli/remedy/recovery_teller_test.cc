// Who tells the collector of a recovery: at what, how often, and what is said of what it was not
// told.
#include "collector/cli/remedy/recovery_teller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/recovery/told_recovery.h"

namespace fathom::cli {
namespace {

using ::testing::HasSubstr;

struct RecoveryTellerTest : testing::Test {
  RecoveryTellerTest() {
    Fold({.mark = Mark::kBegun, .id = "r1", .wall_ns = 1, .facts = {{"job", "train"}}});
  }
  void Fold(RecoveryRecord record) {
    record.id = record.id.empty() ? "r1" : record.id;
    if (record.wall_ns == 0) record.wall_ns = ++clock;
    history.Fold(record);
  }
  void Happens(Mark mark, Step step = Step::kNone, Json facts = Json::object()) {
    Fold({.mark = mark, .id = "r1", .step = step, .text = "why", .facts = std::move(facts)});
    teller.OnRecord(mark, *history.Find());
  }
  collector::ToldRecovery Last() const {
    const auto told = collector::ReadToldRecovery(bodies.back());
    EXPECT_TRUE(told.ok()) << told.status();
    return told.ok() ? *told : collector::ToldRecovery();
  }

  std::int64_t clock = 10;
  RecoveryHistory history;
  bool away = false;
  std::vector<std::string> bodies;
  int pauses = 0;
  int asked = 0;
  RecoveryTeller teller{{.post =
                             [this](const std::string& job, const std::string& body) {
                               ++asked;
                               EXPECT_EQ(job, "train");
                               if (away) return absl::UnavailableError("nobody answers");
                               bodies.push_back(body);
                               return absl::OkStatus();
                             },
                         .pause = [this](std::chrono::milliseconds) { ++pauses; }}};
};

TEST_F(RecoveryTellerTest, EachRecordButAnIntentIsTold) {
  teller.OnRecord(Mark::kBegun, *history.Find());
  Happens(Mark::kIntent, Step::kIsolate);
  EXPECT_EQ(bodies.size(), 1u) << "a deed waits for nobody";
  Happens(Mark::kDone, Step::kIsolate);
  Happens(Mark::kRunning);
  Happens(Mark::kEnded, Step::kNone, {{"outcome", "recovered"}});
  ASSERT_EQ(bodies.size(), 4u);
  EXPECT_EQ(Last().state, "recovered");
  EXPECT_GT(Last().times.running_ns, Last().times.isolated_ns);
  EXPECT_EQ(teller.UntoldText(), "");
}

TEST_F(RecoveryTellerTest, ACollectorThatIsAwayIsAskedOnceAndAgainAtTheEnd) {
  away = true;
  teller.OnRecord(Mark::kBegun, *history.Find());
  Happens(Mark::kDone, Step::kStandby);
  Happens(Mark::kDone, Step::kIsolate);
  EXPECT_EQ(asked, 1);
  away = false;
  Happens(Mark::kEnded, Step::kNone, {{"outcome", "recovered"}});
  ASSERT_EQ(bodies.size(), 1u) << "the last telling makes good what was missed";
  EXPECT_GT(Last().times.isolated_ns, 0);
  EXPECT_EQ(teller.UntoldText(), "");
}

TEST_F(RecoveryTellerTest, WhatItWasNotToldIsCountedAndSaid) {
  away = true;
  Happens(Mark::kDone, Step::kIsolate);
  Happens(Mark::kIntent, Step::kRestart);
  Happens(Mark::kEnded, Step::kNone, {{"outcome", "given up"}});
  EXPECT_EQ(asked, 1 + RecoveryTeller::kTries);
  EXPECT_EQ(pauses, RecoveryTeller::kTries - 1);
  EXPECT_THAT(teller.UntoldText(), HasSubstr("not told of 3 records"));
  EXPECT_THAT(teller.UntoldText(), HasSubstr("nobody answers"));
}

TEST_F(RecoveryTellerTest, WhatTheJournalHoldsIsToldAgain) {
  for (int i = 2; i < 6; ++i) {
    Fold({.mark = Mark::kBegun, .id = "r" + std::to_string(i), .facts = {{"job", "train"}}});
  }
  teller.Again(history);
  ASSERT_EQ(bodies.size(), RecoveryTeller::kToldAgain);
  EXPECT_EQ(Last().id, "r5");
  away = true;
  teller.Again(history);
  EXPECT_EQ(teller.UntoldText(), "") << "what others left untold is not this run's";
}

}  // namespace
}  // namespace fathom::cli
