// What the past of fathom-cordon says after a restart, which reads it from the log alone.
#include "collector/cordon/policy/ledger.h"

#include <gtest/gtest.h>

namespace fathom::cordon {
namespace {

Record Past(RecordKind kind, std::int64_t second, const std::string& action = "a1",
            const std::string& actor = kOwnName) {
  Record record;
  record.kind = kind;
  record.time = WallNs(second * 1'000'000'000);
  record.action = action;
  record.node = "n1";
  record.actor = actor;
  return record;
}

TEST(LedgerTest, AnActionGoesThroughItsPhases) {
  struct Step {
    RecordKind kind;
    Phase phase;
    bool holds;
  };
  const Step steps[] = {
      {RecordKind::kObserved, Phase::kObserved, false},
      {RecordKind::kAdvised, Phase::kAdvised, false},
      {RecordKind::kDeclined, Phase::kAdvised, false},  // says why not, and changes nothing
      {RecordKind::kApproved, Phase::kApproved, false},
      {RecordKind::kApprovalExpired, Phase::kAdvised, false},
      {RecordKind::kApproved, Phase::kApproved, false},
      {RecordKind::kIntended, Phase::kActing, true},  // may have been done: counts as held
      {RecordKind::kFailed, Phase::kFailed, false},
      {RecordKind::kIntended, Phase::kActing, true},
      {RecordKind::kDone, Phase::kActed, true},
      {RecordKind::kUndoIntended, Phase::kUndoing, true},  // until it is known to be free
      {RecordKind::kUndone, Phase::kUndone, false},
      {RecordKind::kRelinquished, Phase::kRelinquished, false},
      {RecordKind::kWithdrawn, Phase::kWithdrawn, false},
  };
  Ledger ledger;
  std::int64_t second = 100;
  for (const Step& step : steps) {
    ledger.Fold(Past(step.kind, ++second));
    ASSERT_NE(ledger.Find("a1"), nullptr);
    EXPECT_EQ(ledger.Find("a1")->phase, step.phase) << ToString(step.kind);
    EXPECT_EQ(ledger.Find("a1")->Holds(), step.holds) << ToString(step.kind);
    EXPECT_EQ(ledger.Find("a1")->changed.ns, second * 1'000'000'000);
  }
  EXPECT_EQ(ledger.Find("a2"), nullptr);
}

TEST(LedgerTest, TheKeyIsOfTheFirstRecordAndTheModeOfTheLastThatTellsOne) {
  Ledger ledger;
  Record first = Past(RecordKind::kAdvised, 1);
  first.mode = "advise";
  first.evidence = "rank 1 is slow";
  ledger.Fold(first);
  Record second = Past(RecordKind::kApproved, 2, "a1", "ann");
  second.node = "n2";
  second.evidence = "another";
  ledger.Fold(second);
  EXPECT_EQ(ledger.Find("a1")->node, "n1");
  EXPECT_EQ(ledger.Find("a1")->evidence, "rank 1 is slow");
  EXPECT_EQ(ledger.Find("a1")->mode, "advise");
  EXPECT_EQ(ledger.Find("a1")->actor, "ann");
  second.mode = "approve";
  ledger.Fold(second);
  EXPECT_EQ(ledger.Find("a1")->mode, "approve");
}

TEST(LedgerTest, AnAttemptRestsOnAnApprovalOnlyIfThatCameRightBefore) {
  Ledger ledger;
  ledger.Fold(Past(RecordKind::kApproved, 1));
  ledger.Fold(Past(RecordKind::kIntended, 2));
  EXPECT_TRUE(ledger.Find("a1")->was_approved);
  ledger.Fold(Past(RecordKind::kFailed, 3));
  ledger.Fold(Past(RecordKind::kIntended, 4));
  EXPECT_FALSE(ledger.Find("a1")->was_approved);
  EXPECT_EQ(ledger.Find("a1")->approved.ns, 1'000'000'000);
}

TEST(LedgerTest, FailuresInARowEndWithASuccessOfAnyActionAndWithAReset) {
  Ledger ledger;
  for (const char* id : {"a1", "a2", "a2"}) ledger.Fold(Past(RecordKind::kFailed, 1, id));
  EXPECT_EQ(ledger.failures_in_row(), 3);
  EXPECT_EQ(ledger.Find("a2")->failures, 2);
  ledger.Fold(Past(RecordKind::kDone, 2, "a3"));
  EXPECT_EQ(ledger.failures_in_row(), 0);
  EXPECT_EQ(ledger.Find("a2")->failures, 2) << "its own stay counted";
  ledger.Fold(Past(RecordKind::kFailed, 3, "a1"));
  ledger.Fold(Past(RecordKind::kReset, 4, ""));
  EXPECT_EQ(ledger.failures_in_row(), 0);
  EXPECT_EQ(ledger.Find("a1")->failures, 0);
}

TEST(LedgerTest, AttemptsAreKeptInTheirOrderAndBounded) {
  Ledger ledger;
  for (int i = 0; i < 5000; ++i) ledger.Fold(Past(RecordKind::kIntended, 1 + i));
  EXPECT_EQ(ledger.attempts().size(), 4096u);
  EXPECT_EQ(ledger.attempts().back().ns, 5000'000'000'000);
  EXPECT_EQ(ledger.attempts().front().ns, (5000 - 4095) * 1'000'000'000ll);
}

TEST(LedgerTest, OnlyAPersonsUndoOverrides) {
  Ledger ledger;
  EXPECT_FALSE(ledger.LastOverride("n1").known());
  ledger.Fold(Past(RecordKind::kUndone, 5));
  EXPECT_FALSE(ledger.LastOverride("n1").known());
  ledger.Fold(Past(RecordKind::kUndone, 6, "a1", "ann"));
  EXPECT_EQ(ledger.LastOverride("n1").ns, 6'000'000'000);
  ledger.Fold(Past(RecordKind::kRelinquished, 7));
  EXPECT_EQ(ledger.LastOverride("n1").ns, 7'000'000'000);
}

TEST(LedgerTest, TheIdOfAnActionFollowsFromItsWholeKeyAlone) {
  VerdictFact verdict;
  verdict.node = "n1";
  verdict.entity = "rank 1";
  verdict.cause = "compute_slow";
  verdict.id = "v1";
  const std::string id = ActionId(verdict);
  EXPECT_EQ(id.size(), 13u);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef", 1), std::string::npos);
  VerdictFact same = verdict;
  same.sentence = "told otherwise";
  same.job = "renamed";
  same.unseen_s = 9;
  EXPECT_EQ(ActionId(same), id);
  for (std::string VerdictFact::*part :
       {&VerdictFact::node, &VerdictFact::entity, &VerdictFact::cause, &VerdictFact::id}) {
    VerdictFact other = verdict;
    (other.*part) += "x";
    EXPECT_NE(ActionId(other), id);
  }
  VerdictFact shifted = verdict;  // the same letters, divided otherwise
  shifted.node = "n1r";
  shifted.entity = "ank 1";
  EXPECT_NE(ActionId(shifted), id);
}

TEST(RecordKindTest, ItsNamesAreReadBackAndOthersAreNone) {
  for (int i = 0; i <= static_cast<int>(RecordKind::kDeclined); ++i) {
    const auto kind = static_cast<RecordKind>(i);
    RecordKind back = RecordKind::kReset;
    ASSERT_TRUE(ParseRecordKind(ToString(kind), back));
    EXPECT_EQ(back, kind);
  }
  RecordKind kept = RecordKind::kDone;
  for (const char* text : {"", "Done", "done ", "x"}) EXPECT_FALSE(ParseRecordKind(text, kept));
  EXPECT_EQ(kept, RecordKind::kDone);
}

}  // namespace
}  // namespace fathom::cordon
