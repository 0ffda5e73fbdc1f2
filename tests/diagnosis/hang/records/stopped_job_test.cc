// Records of processes that gave up, written after the op they were stuck in had failed.
#include "diagnosis/hang/records/stopped_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace fathom::diagnosis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const GroupId kAll{1}, kPair{2}, kOther{3};

struct Left {
  RankId rank;
  std::vector<std::pair<GroupId, int>> ops;  // group and number of each, in order of entry
  bool last_open = false;
  EndedBy ended = EndedBy::kNotKnown;
  std::vector<GroupId> open = {};      // the last op of each of these is open too
  std::vector<GroupId> barriers = {};  // whose ops are barriers
};

bool Has(const std::vector<GroupId>& groups, GroupId group) {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

// Four ranks; ranks 0 and 1 are a group of their own besides, and so are 2 and 3.
JobView ViewOf(const std::vector<Left>& left) {
  JobView view;
  view.world_size = 4;
  view.groups = {{kAll, "0", "default_pg", 4, {RankId(0), RankId(1), RankId(2), RankId(3)}, false},
                 {kPair, "1", "", 2, {RankId(0), RankId(1)}, false},
                 {kOther, "2", "", 2, {RankId(2), RankId(3)}, false}};
  for (const Left& from : left) {
    RankRecord record;
    record.rank = from.rank;
    record.extent = RecordExtent::kHistory;
    record.ended = from.ended;
    record.output_known = from.ended != EndedBy::kNotKnown;
    RankFacts facts;
    facts.rank = from.rank;
    for (const auto& [group, number] : from.ops) {
      EnteredOp op;
      op.group = group;
      op.sequence = Sequence(static_cast<std::uint64_t>(number));
      op.kind = Has(from.barriers, group) ? CollectiveKind::kBarrier : CollectiveKind::kAllReduce;
      op.open = Has(from.open, group);
      record.ops.push_back(op);
      auto progress = std::find_if(facts.groups.begin(), facts.groups.end(),
                                   [&](const auto& p) { return p.group == op.group; });
      if (progress == facts.groups.end()) {
        progress = facts.groups.insert(progress, GroupProgress{group, 0, 0, 0});
      }
      progress->entered = op.sequence.value + 1;
    }
    if (from.last_open) record.ops.back().open = true;
    view.records.push_back(std::move(record));
    view.ranks.push_back(std::move(facts));
  }
  return view;
}

std::vector<Verdict> JudgedOf(const std::vector<Left>& left) {
  Findings findings;
  ExamineStoppedJob(ViewOf(left), DiagnosisConfig{}, findings);
  return findings.verdicts;
}

TEST(StoppedJob, AWaitThatEndedByALostPeerWasAWaitAllTheSame) {
  const auto verdicts = JudgedOf({{RankId(0), {{kAll, 0}, {kAll, 1}}, false, EndedBy::kPeerLost},
                                  {RankId(1), {{kAll, 0}, {kAll, 1}}, false, EndedBy::kPeerLost},
                                  {RankId(2), {{kAll, 0}}, false, EndedBy::kNotKnown},
                                  {RankId(3), {{kAll, 0}, {kAll, 1}}, true}});
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_THAT(verdicts[0].entity.ranks, ElementsAre(RankId(2)));
  EXPECT_EQ(verdicts[0].cause, Cause::kNonCommunicationHang);
  EXPECT_EQ(verdicts[0].grade, Grade::kSupported) << "the failed op is told by order alone";
}

// Rank 1 went to the op of all before that of its pair, and its record shows the former as ended.
TEST(StoppedJob, ARankThatGaveUpInsideAnOpIsNotIdle) {
  const auto verdicts =
      JudgedOf({{RankId(0), {{kPair, 0}, {kAll, 0}, {kPair, 1}}, true},
                {RankId(1), {{kPair, 0}, {kAll, 0}, {kAll, 1}}, false, EndedBy::kPeerLost},
                {RankId(2), {{kAll, 0}, {kAll, 1}}, false, EndedBy::kPeerLost},
                {RankId(3), {{kAll, 0}, {kAll, 1}}, true}});
  for (const Verdict& verdict : verdicts) {
    EXPECT_NE(verdict.cause, Cause::kNonCommunicationHang) << verdict.sentence;
    EXPECT_LE(verdict.grade, Grade::kSupported);
  }
}

// A barrier that all are inside may be an orderly end.
TEST(StoppedJob, AnOpInDoubtSilencesNoOtherThatIsStuck) {
  const auto verdicts =
      JudgedOf({{.rank = RankId(0), .ops = {{kPair, 0}}, .last_open = true, .barriers = {kPair}},
                {.rank = RankId(1), .ops = {{kPair, 0}}, .last_open = true, .barriers = {kPair}},
                {.rank = RankId(2), .ops = {{kOther, 0}}, .last_open = true},
                {.rank = RankId(3), .ops = {{kOther, 0}}, .last_open = true}});
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].cause, Cause::kCommunicationHang);
  EXPECT_EQ(verdicts[0].grade, Grade::kHypothesis);
  EXPECT_THAT(verdicts[0].entity.ranks, ElementsAre(RankId(2), RankId(3)));
}

// Ranks 0 and 1 are inside their own op too, and entered that before the barrier of all, or after.
TEST(StoppedJob, AnOpBehindOneInDoubtIsNoLeadAndOneBeforeItIs) {
  const auto left = [](std::uint32_t rank, const std::vector<std::pair<GroupId, int>>& ops) {
    return Left{.rank = RankId(rank), .ops = ops, .open = {kAll, kPair}, .barriers = {kAll}};
  };
  const auto judged = [&](const std::vector<std::pair<GroupId, int>>& of_pair) {
    return JudgedOf(
        {left(0, of_pair), left(1, of_pair), left(2, {{kAll, 0}}), left(3, {{kAll, 0}})});
  };
  EXPECT_THAT(judged({{kAll, 0}, {kPair, 0}}), IsEmpty());
  const auto verdicts = judged({{kPair, 0}, {kAll, 0}});
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_THAT(verdicts[0].entity.ranks, ElementsAre(RankId(0), RankId(1)));
  EXPECT_EQ(verdicts[0].grade, Grade::kHypothesis);
}

// All entered op 0, which nobody finished; hosts run ahead of devices, but for those of `behind`.
std::vector<Verdict> JudgedBehind(const std::vector<std::uint32_t>& behind) {
  std::vector<Left> left;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const bool last = std::find(behind.begin(), behind.end(), rank) != behind.end();
    std::vector<std::pair<GroupId, int>> ops = {{kAll, 0}};
    if (!last) ops.emplace_back(kAll, 1);
    left.push_back({.rank = RankId(rank), .ops = ops, .open = {kAll}});
  }
  return JudgedOf(left);
}

TEST(StoppedJob, AHostThatWentNoFurtherThanTheStuckOpIsNamed) {
  const auto verdicts = JudgedBehind({2});
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_THAT(verdicts[0].entity.ranks, ElementsAre(RankId(2)));
  EXPECT_EQ(verdicts[0].cause, Cause::kNonCommunicationHang);
  EXPECT_EQ(verdicts[0].grade, Grade::kSupported);
}

TEST(StoppedJob, WhoMayReadAResultAloneIsALeadOnly) {
  for (const std::uint32_t rank : {0u, 3u}) {
    const auto verdicts = JudgedBehind({rank});
    ASSERT_THAT(verdicts, SizeIs(1));
    EXPECT_EQ(verdicts[0].grade, Grade::kHypothesis);
  }
}

TEST(StoppedJob, NobodyIsNamedWhereAllHostsOrHalfOfThemWentEquallyFar) {
  for (const auto& verdict : JudgedBehind({})) EXPECT_EQ(verdict.grade, Grade::kHypothesis);
  for (const auto& verdict : JudgedBehind({1, 2})) EXPECT_EQ(verdict.grade, Grade::kHypothesis);
}

// The devices of the others finished ops 0 and 1; rank 1 took part, and its record does not know.
TEST(StoppedJob, AnOpThatAllOthersFinishedAndALaterOneNameWhoseDeviceIsNotToldOf) {
  const auto left = [](std::uint32_t rank) {
    return Left{.rank = RankId(rank), .ops = {{kAll, 0}, {kAll, 1}, {kAll, 2}}, .last_open = true};
  };
  const auto verdicts =
      JudgedOf({left(0),
                {.rank = RankId(1), .ops = {{kAll, 0}, {kAll, 1}}, .open = {kAll}},
                left(2),
                left(3)});
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_THAT(verdicts[0].entity.ranks, ElementsAre(RankId(1)));
  EXPECT_EQ(verdicts[0].grade, Grade::kSupported);
  EXPECT_THAT(verdicts[0].sentence, ::testing::HasSubstr("stopped"));
}

TEST(StoppedJob, NothingOpenAndNobodyLostIsNoVerdict) {
  EXPECT_THAT(JudgedOf({{RankId(0), {{kAll, 0}}},
                        {RankId(1), {{kAll, 0}}},
                        {RankId(2), {{kAll, 0}}},
                        {RankId(3), {{kAll, 0}}}}),
              IsEmpty());
}

}  // namespace
}  // namespace fathom::diagnosis
