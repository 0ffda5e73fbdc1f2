// The dumps that make_dumps.py writes, each a small job whose truth is known by construction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "collector/import/recognise.h"
#include "diagnosis/engine/diagnose.h"

namespace fathom::collector {
namespace {

using diagnosis::Cause;
using diagnosis::Diagnosis;
using diagnosis::EntityType;
using diagnosis::Grade;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Outcome {
  Recording recording;
  Diagnosis diagnosis;
};

Outcome Judge(const std::string& name) {
  auto recording = ReadRecording({std::string(FATHOM_DUMPS) + "/" + name}, "auto", ImportLimits{});
  EXPECT_TRUE(recording.ok()) << recording.status();
  Outcome outcome{std::move(*recording), {}};
  const diagnosis::DiagnosisConfig config;
  const auto& view = outcome.recording.view;
  outcome.diagnosis = diagnosis::Diagnose(view, diagnosis::Watch(view, config), config);
  return outcome;
}

struct Case {
  std::string name;
  Cause cause;
  std::vector<std::uint32_t> culprits;
  Grade grade;
};

class Convicted : public ::testing::TestWithParam<Case> {};

TEST_P(Convicted, RightRanksAndCause) {
  const Outcome outcome = Judge(GetParam().name);
  ASSERT_EQ(outcome.diagnosis.verdicts.size(), 1U);
  const diagnosis::Verdict& verdict = outcome.diagnosis.verdicts[0];
  std::vector<std::uint32_t> ranks;
  for (const RankId rank : verdict.entity.ranks) ranks.push_back(rank.value);
  EXPECT_EQ(ranks, GetParam().culprits);
  EXPECT_EQ(verdict.cause, GetParam().cause);
  EXPECT_EQ(verdict.grade, GetParam().grade);
  EXPECT_THAT(verdict.sentence, Not(IsEmpty()));
  EXPECT_THAT(verdict.evidence, Not(IsEmpty()));
  EXPECT_THAT(verdict.would_change, Not(IsEmpty()));
  for (const RankId rank : verdict.entity.ranks) {
    EXPECT_THAT(verdict.victims, Not(Contains(rank)));
  }
}

constexpr Cause kAbsent = Cause::kNonCommunicationHang;

INSTANTIATE_TEST_SUITE_P(
    Dumps, Convicted,
    ::testing::Values(
        Case{"absent", kAbsent, {2}, Grade::kEstablished},
        Case{"shared_name", kAbsent, {1, 3}, Grade::kEstablished},
        Case{"heartbeat", kAbsent, {2}, Grade::kEstablished},
        Case{"heartbeat_alone_stuck", kAbsent, {3}, Grade::kEstablished},
        Case{"absent_json", kAbsent, {2}, Grade::kEstablished},
        Case{"absent_protocol_0", kAbsent, {2}, Grade::kEstablished},
        Case{"absent_protocol_1", kAbsent, {2}, Grade::kEstablished},
        Case{"absent_protocol_3", kAbsent, {2}, Grade::kEstablished},
        Case{"absent_protocol_4", kAbsent, {2}, Grade::kEstablished},
        Case{"absent_protocol_5", kAbsent, {2}, Grade::kEstablished},
        Case{"absent_v2_3", kAbsent, {2}, Grade::kEstablished},
        Case{"absent_two", kAbsent, {1, 6}, Grade::kEstablished},
        Case{"absent_empty_dump", kAbsent, {2}, Grade::kEstablished},
        Case{"missing_dump", kAbsent, {2}, Grade::kSupported},
        Case{"truncated", kAbsent, {2}, Grade::kEstablished},
        Case{"hostile", kAbsent, {2}, Grade::kEstablished},
        Case{"duplicate", kAbsent, {2}, Grade::kEstablished},
        Case{"contradicting_group", kAbsent, {3}, Grade::kHypothesis},
        Case{"left_from_before", kAbsent, {2}, Grade::kSupported},
        Case{"clocks_apart", kAbsent, {2}, Grade::kEstablished},
        Case{"uneven_sizes", kAbsent, {3}, Grade::kEstablished},
        Case{"pipeline", kAbsent, {3}, Grade::kEstablished},
        Case{"pipeline_gloo", kAbsent, {3}, Grade::kHypothesis},
        Case{"batched_stage_absent", kAbsent, {1}, Grade::kEstablished},
        Case{"batched_half", kAbsent, {0}, Grade::kEstablished},
        Case{"batched_absent_in_sum", kAbsent, {2}, Grade::kEstablished},
        Case{"batched_open_only", kAbsent, {2}, Grade::kSupported},
        Case{"coalesced_absent", kAbsent, {2}, Grade::kEstablished},
        Case{"device_stuck", kAbsent, {3}, Grade::kSupported},
        Case{"device_stuck_behind_a_peer", kAbsent, {3}, Grade::kEstablished},
        Case{"left_behind", Cause::kCommunicationHang, {1}, Grade::kSupported},
        Case{"left_behind_enqueued_ahead", Cause::kCommunicationHang, {1}, Grade::kSupported},
        Case{"left_behind_in_broadcast", Cause::kCommunicationHang, {1}, Grade::kHypothesis},
        Case{"left_behind_two", Cause::kCommunicationHang, {1, 3}, Grade::kHypothesis},
        Case{"rebuilt", kAbsent, {2}, Grade::kEstablished},
        Case{"skipped_in_a_pair", Cause::kMismatch, {1}, Grade::kSupported},
        Case{"size_of_reduce_scatter", Cause::kMismatch, {2}, Grade::kEstablished},
        Case{"size_of_all_gather", Cause::kMismatch, {2}, Grade::kEstablished},
        Case{"mismatch_in_a_pair", Cause::kMismatch, {1}, Grade::kEstablished},
        Case{"crossed", Cause::kMismatch, {2}, Grade::kSupported},
        Case{"crossed_pair", Cause::kMismatch, {1}, Grade::kSupported},
        Case{"crossed_unknown", Cause::kMismatch, {0, 1}, Grade::kHypothesis},
        Case{"size_mismatch", Cause::kMismatch, {1}, Grade::kEstablished},
        Case{"kind_mismatch_of_two", Cause::kMismatch, {0, 1}, Grade::kSupported},
        Case{"ring_of_two", Cause::kMismatch, {0, 1}, Grade::kHypothesis},
        Case{"both_send", Cause::kMismatch, {1}, Grade::kSupported},
        Case{"both_receive_at_once", Cause::kMismatch, {0, 1}, Grade::kSupported},
        Case{"receives_from_another", Cause::kMismatch, {0}, Grade::kSupported}),
    [](const auto& param) { return param.param.name; });

TEST(ImportCases, WhatIsNoHangGivesNoVerdict) {
  for (const char* name : {"healthy", "ending", "all_in_barrier", "absent_minority_inside",
                           "batched_healthy", "batched_healthy_old", "coalesced_healthy"}) {
    EXPECT_THAT(Judge(name).diagnosis.verdicts, IsEmpty()) << name;
  }
}

TEST(ImportCases, AHeartbeatIsLeftOutWhereTheTrainingIsStuckAndNothingElse) {
  const auto left_out = HasSubstr("group 1 is left out: only a thread beside the training uses it");
  EXPECT_THAT(Judge("heartbeat").recording.notes, Contains(left_out));
  const Outcome open_only = Judge("heartbeat_open_only");
  EXPECT_THAT(open_only.recording.notes, Contains(left_out));
  ASSERT_EQ(open_only.diagnosis.verdicts.size(), 1U);
  EXPECT_THAT(open_only.diagnosis.verdicts[0].entity.ranks, ElementsAre(RankId(2)));
  for (const char* name : {"heartbeat_alone_stuck", "heartbeat_with_data", "absent"}) {
    EXPECT_THAT(Judge(name).recording.notes, Not(Contains(left_out))) << name;
  }
}

TEST(ImportCases, MessagesThatCannotMeetAreToldWithBothOrders) {
  const diagnosis::Verdict verdict = Judge("both_send").diagnosis.verdicts.at(0);
  EXPECT_THAT(verdict.sentence,
              HasSubstr("entered send to rank 0 where it had always entered recv from rank 0"));
  const auto statement = [](const std::string& text) {
    return Contains(::testing::Field(&diagnosis::Evidence::statement, HasSubstr(text)));
  };
  EXPECT_THAT(verdict.evidence, statement("Rank 0 entered last: "));
  EXPECT_THAT(verdict.evidence, statement("then send to rank 0."));
  EXPECT_THAT(Judge("both_receive_at_once").diagnosis.verdicts.at(0).sentence,
              HasSubstr("the one is in recv from rank 1, the other in recv from rank 0"));
}

TEST(ImportCases, AMessageWithBothEndsAccusesNobody) {
  for (const char* name : {"message_on_its_way", "batched_on_its_way"}) {
    for (const auto& verdict : Judge(name).diagnosis.verdicts) {
      EXPECT_EQ(verdict.grade, Grade::kHypothesis) << verdict.sentence;
    }
  }
}

TEST(ImportCases, AllInsideIsALeadOnTheGroupAndAsksForTheTransport) {
  const Outcome outcome = Judge("all_inside");
  ASSERT_EQ(outcome.diagnosis.verdicts.size(), 1U);
  EXPECT_EQ(outcome.diagnosis.verdicts[0].cause, Cause::kCommunicationHang);
  EXPECT_EQ(outcome.diagnosis.verdicts[0].entity.type, EntityType::kGroup);
  EXPECT_EQ(outcome.diagnosis.verdicts[0].grade, Grade::kHypothesis);
  ASSERT_EQ(outcome.diagnosis.abstained.size(), 1U);
  EXPECT_THAT(outcome.diagnosis.abstained[0].missing, HasSubstr("transport"));
}

TEST(ImportCases, OpsLaunchedAsOneAreOneOp) {
  const Outcome outcome = Judge("coalesced_all_inside");
  ASSERT_EQ(outcome.diagnosis.verdicts.size(), 1U);
  EXPECT_EQ(outcome.diagnosis.verdicts[0].grade, Grade::kHypothesis);
  EXPECT_THAT(outcome.diagnosis.verdicts[0].sentence, HasSubstr("op 5 of default_pg"));
  EXPECT_THAT(Judge("batched_stage_absent").diagnosis.verdicts.at(0).victims,
              ElementsAre(RankId(0), RankId(2), RankId(3)));
}

TEST(ImportCases, MembersThatLeftNoDumpMayHoldUpAGroupOfUnknownMembers) {
  const Outcome outcome = Judge("members_not_known");
  EXPECT_THAT(outcome.diagnosis.verdicts, IsEmpty());
  ASSERT_FALSE(outcome.diagnosis.abstained.empty());
  EXPECT_THAT(outcome.diagnosis.abstained[0].question,
              HasSubstr("whether all members are inside all_reduce 6 of DATA (4)"));
  EXPECT_THAT(outcome.diagnosis.abstained[0].missing, HasSubstr("records of ranks 1 and 4"));
}

TEST(ImportCases, ADeviceThatNeverBeganAnOpIsToldFromAHostThatNeverCame) {
  EXPECT_THAT(Judge("device_stuck").diagnosis.verdicts[0].sentence,
              HasSubstr("which its device never began"));
  EXPECT_THAT(Judge("device_stuck_behind_a_peer").diagnosis.verdicts[0].victims,
              ElementsAre(RankId(0), RankId(1), RankId(2)));
}

TEST(ImportCases, ARecordThatWasWrittenEarlierProvesNothing) {
  const Outcome outcome = Judge("stale");
  EXPECT_THAT(outcome.diagnosis.verdicts, IsEmpty());
  ASSERT_EQ(outcome.diagnosis.abstained.size(), 1U);
  EXPECT_THAT(outcome.diagnosis.abstained[0].missing, HasSubstr("later records of rank 2"));
}

TEST(ImportCases, TheWholeChainBehindTheCulpritIsItsVictims) {
  EXPECT_THAT(Judge("pipeline").diagnosis.verdicts[0].victims,
              ElementsAre(RankId(0), RankId(1), RankId(2)));
}

TEST(ImportCases, NotesSayWhatWasSkippedAndWhere) {
  EXPECT_THAT(Judge("hostile").recording.notes,
              Contains(::testing::AllOf(HasSubstr("_dump_3"), HasSubstr("GLOBAL"),
                                        HasSubstr("offset 18"))));
  EXPECT_THAT(Judge("truncated").recording.notes,
              Contains(::testing::AllOf(HasSubstr("_dump_1"), HasSubstr("ends early"))));
  EXPECT_THAT(Judge("rebuilt").recording.notes, Contains(HasSubstr("group 0 was built again")));
  EXPECT_THAT(Judge("duplicate").recording.notes, Contains(HasSubstr("second dump of rank 2")));
  EXPECT_THAT(Judge("contradicting_group").recording.notes, Contains(HasSubstr("other members")));
  EXPECT_THAT(Judge("left_from_before").recording.notes,
              Contains(::testing::AllOf(HasSubstr("_dump_2"), HasSubstr("earlier run"))));
  EXPECT_THAT(Judge("missing_dump").recording.ranks_missing, ElementsAre(RankId(2)));
}

std::string ErrorOf(const std::string& name) {
  const auto read = ReadRecording({std::string(FATHOM_DUMPS) + "/" + name}, "auto", {});
  return std::string(read.status().message());
}

TEST(ImportCases, TwoJobsInOneFolderAreRefused) {
  EXPECT_THAT(
      ErrorOf("two_names"),
      ::testing::AllOf(HasSubstr("two jobs"), HasSubstr("jobA_rank_0"), HasSubstr("jobB_rank_0")));
  EXPECT_THAT(ErrorOf("two_worlds"),
              ::testing::AllOf(HasSubstr("ranks 4, 5, 6, 7"), HasSubstr("two jobs")));
  EXPECT_THAT(ErrorOf("contradicting"), HasSubstr("two jobs"));
}

// Questions about the stop that stay open; the words of the report hang on them.
TEST(ImportCases, WhereRecordsAreTooFewOrCutTheRuleSaysWhatItTakes) {
  const auto asks = [](const std::string& name, const std::string& question,
                       const std::string& missing) {
    const Outcome outcome = Judge(name);
    EXPECT_THAT(outcome.diagnosis.verdicts, IsEmpty()) << name;
    EXPECT_THAT(outcome.diagnosis.abstained,
                Contains(::testing::AllOf(
                    ::testing::Field(&diagnosis::Abstention::question, HasSubstr(question)),
                    ::testing::Field(&diagnosis::Abstention::missing, HasSubstr(missing)))))
        << name;
  };
  asks("half_missing", "which rank holds up the others",
       "the dumps of ranks 0, 1, 2 and 3: 4 of 8");
  asks("one_of_many", "which rank holds up the others", "1 of 8 ranks");
  asks("half_from_before", "which rank holds up the others", "the dumps of ranks 0 and 1");
  asks("empty", "whether the job stood still", "records of ops");
  asks("all_empty", "whether the job stood still", "records of ops");
  asks("all_cut", "whether the job stood still", "whole records of ranks 0, 1, 2 and 3");
  asks("size_of_all_to_all", "whether the sizes that the members passed to all_to_all 4", "split");
  asks("size_of_list", "whether the sizes that the members passed to all_gather 4", "split");
}

TEST(ImportCases, AnOrderThatWasAlwaysSoAccusesNobody) {
  for (const char* name : {"crossed_always", "crossed_not", "size_same"}) {
    for (const auto& verdict : Judge(name).diagnosis.verdicts) {
      EXPECT_EQ(verdict.cause, Cause::kCommunicationHang) << name;
      EXPECT_EQ(verdict.grade, Grade::kHypothesis) << name;
    }
  }
}

TEST(ImportCases, BothSidesOfAMismatchAreShownWithTheirPlaceInTheProgram) {
  const diagnosis::Verdict verdict = Judge("mismatch_in_a_pair").diagnosis.verdicts.at(0);
  EXPECT_THAT(verdict.victims, ElementsAre(RankId(0), RankId(2), RankId(3), RankId(4), RankId(5)));
  const auto waiting = [](auto... ranks) {
    return ::testing::Field(&diagnosis::WaitStep::waiting, ElementsAre(RankId(ranks)...));
  };
  EXPECT_THAT(verdict.waits, ::testing::UnorderedElementsAre(waiting(0U, 2U), waiting(3U, 4U, 5U)));
  const auto said = [](const std::string& text) {
    return Contains(::testing::Field(&diagnosis::Evidence::statement, HasSubstr(text)));
  };
  EXPECT_THAT(verdict.evidence, said("Rank 1 called it in reduce_loss (train.py:175)."));
  EXPECT_THAT(verdict.evidence, said("Ranks 0 and 2 called it in reduce_loss (train.py:179)."));
}

TEST(ImportCases, CrossedOrdersAreBothShown) {
  const diagnosis::Verdict verdict = Judge("crossed").diagnosis.verdicts.at(0);
  const auto said = [](const std::string& text) {
    return Contains(::testing::Field(&diagnosis::Evidence::statement, HasSubstr(text)));
  };
  EXPECT_THAT(verdict.evidence,
              said("Ranks 0, 1 and 3 entered all_reduce 7 of TENSOR (1) before all_reduce 7"));
  EXPECT_THAT(verdict.evidence, said("Rank 2 entered all_reduce 7 of DATA (2) before"));
}

TEST(ImportCases, NoCommandForAProcessThatIsNotKnown) {
  const diagnosis::Verdict verdict = Judge("absent").diagnosis.verdicts.at(0);
  EXPECT_THAT(verdict.action_text, Not(IsEmpty()));
  EXPECT_THAT(verdict.action_command, IsEmpty());
}

TEST(ImportCases, WhatTheStandstillCostIsTold) {
  // Rank 2 stopped 20 s before the newest entry of ranks 0 and 1.
  EXPECT_NEAR(Judge("clocks_apart").diagnosis.verdicts.at(0).cost.gpu_hours, 20.0 * 4 / 3600, 1e-3);
}

TEST(ImportCases, TwoJobsInTwoFoldersAreToldApart) {
  const auto recording = ReadRecording({FATHOM_DUMPS}, "auto", ImportLimits{});
  EXPECT_EQ(recording.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(recording.status().message()), HasSubstr("two jobs"));
}

TEST(ImportCases, ErrorsSayWhatWasLookedFor) {
  EXPECT_EQ(ReadRecording({"/no/such"}, "auto", {}).status().code(), absl::StatusCode::kNotFound);
  const auto none = ReadRecording({std::string(FATHOM_DUMPS) + "/../make_dumps.py"}, "auto", {});
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("looked for"));
  const auto format = ReadRecording({FATHOM_DUMPS}, "parquetish", {});
  EXPECT_THAT(std::string(format.status().message()), HasSubstr("known are auto"));
}

}  // namespace
}  // namespace fathom::collector
