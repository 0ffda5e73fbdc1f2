// Sends and receives that cannot meet, and paths that move nothing, in jobs of four ranks.
#include <string>
#include <vector>

#include "diagnosis/hang/live/hang.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/diagnosis/hang/live/hang_job.h"

namespace fathom::diagnosis {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kWorld = 1, kFirstPair = 2, kSecondPair = 3;
constexpr CollectiveKind kSend = CollectiveKind::kSend, kRecv = CollectiveKind::kRecv;

// On a node of its own, after five ops of the group of all.
RankFacts Member(std::uint32_t rank) {
  RankFacts facts = Facts(rank);
  facts.node = "node" + std::to_string(rank);
  facts.groups = {{GroupId(kWorld), 5, 5, 5}};
  return facts;
}

OpenOp& Open(RankFacts& facts, CollectiveKind kind, std::uint64_t group = kWorld) {
  OpenOp op;
  op.group = GroupId(group);
  op.kind = kind;
  op.age = facts.silent_for;
  op.started = true;
  if (!IsPointToPoint(kind)) op.sequence = Sequence(5);
  facts.open_ops.push_back(op);
  for (GroupProgress& progress : facts.groups) {
    if (progress.group == op.group && !IsPointToPoint(kind)) ++progress.entered;
  }
  return facts.open_ops.back();
}

void Message(JobView& view, std::uint32_t rank, CollectiveKind kind, std::uint32_t peer) {
  Open(view.ranks[rank], kind).peer = RankId(peer);
}

// Ranks 2 and 3 wait in the sum of all for 0 and 1.
JobView Job() {
  JobView view;
  view.world_size = 4;
  view.now = WallNs(1'000'000'000'000'000);
  view.groups = {{GroupId(kWorld), "0", "", 4, {RankId(0), RankId(1), RankId(2), RankId(3)}},
                 {GroupId(kFirstPair), "1", "PAIR", 2, {RankId(0), RankId(1)}},
                 {GroupId(kSecondPair), "2", "PAIR", 2, {RankId(0), RankId(2)}}};
  view.ranks = {Member(0), Member(1), Member(2), Member(3)};
  Open(view.ranks[2], CollectiveKind::kAllReduce);
  Open(view.ranks[3], CollectiveKind::kAllReduce);
  return view;
}

// Rank 0 has always sent first, rank 1 has always received first.
void AddHabits(JobView& view) {
  for (const std::uint32_t rank : {0u, 1u}) {
    for (int i = 0; i < 20; ++i) {
      CommOp op;
      op.kind = (i + static_cast<int>(rank)) % 2 == 0 ? kSend : kRecv;
      op.group = GroupId(kWorld);
      op.peer = RankId(1 - rank);
      view.rows[RankId(rank)].ops.push_back(op);
    }
    CommOp now;
    now.kind = view.ranks[rank].open_ops.at(0).kind;
    now.group = GroupId(kWorld);
    now.peer = RankId(1 - rank);
    view.rows[RankId(rank)].ops.push_back(now);
  }
}

Verdict Only(const JobView& view) {
  const Diagnosis said = Say(view);
  EXPECT_EQ(said.verdicts.size(), 1u);
  return said.verdicts.empty() ? Verdict() : said.verdicts[0];
}

JobView BothSend() {
  JobView view = Job();
  Message(view, 0, kSend, 1);
  Message(view, 1, kSend, 0);
  return view;
}

TEST(MessagesTest, TwoThatSendToEachOtherFirstAreBothToldWithTheirOrders) {
  const Verdict said = Only(BothSend());
  EXPECT_EQ(said.cause, Cause::kMismatch);
  EXPECT_EQ(said.grade, Grade::kSupported);
  EXPECT_THAT(said.entity.ranks, ElementsAre(RankId(0), RankId(1)));
  EXPECT_THAT(said.sentence, AllOf(HasSubstr("rank 0 is in send to rank 1"),
                                   HasSubstr("rank 1 is in send to rank 0")));
  EXPECT_THAT(said.victims, ElementsAre(RankId(2), RankId(3)));
}

TEST(MessagesTest, TheOneThatLeftItsOrderIsNamedAlone) {
  JobView view = BothSend();
  AddHabits(view);
  const Verdict said = Only(view);
  EXPECT_EQ(said.cause, Cause::kMismatch);
  EXPECT_THAT(said.entity.ranks, ElementsAre(RankId(1)));
  EXPECT_THAT(said.sentence,
              HasSubstr("send to rank 0 where it had always entered recv from rank 0"));
  const auto statement = [](const char* text) {
    return Contains(Field(&Evidence::statement, HasSubstr(text)));
  };
  EXPECT_THAT(said.evidence,
              statement("Rank 0 entered last: recv from rank 1, then send to rank 1"));
  EXPECT_THAT(said.evidence, statement("then send to rank 0"));
}

TEST(MessagesTest, TwoThatReceiveFirst) {
  JobView view = Job();
  Message(view, 0, kRecv, 1);
  Message(view, 1, kRecv, 0);
  EXPECT_THAT(Only(view).entity.ranks, ElementsAre(RankId(0), RankId(1)));
}

TEST(MessagesTest, ASendThatItsRankLeftBehindHoldsNobody) {
  JobView view = BothSend();
  view.ranks[0].silent_for = Nanos::FromSeconds(10);  // it went on for 10 s, into the sum of all
  Open(view.ranks[0], CollectiveKind::kAllReduce);
  view.ranks[1].open_ops.clear();
  const Verdict said = Only(view);
  EXPECT_THAT(said.entity.ranks, ElementsAre(RankId(1)));
  EXPECT_EQ(said.cause, Cause::kNonCommunicationHang);
}

TEST(MessagesTest, WhoSendsToAHungRankIsAVictim) {
  JobView view = Job();
  Message(view, 0, kSend, 1);
  const Verdict said = Only(view);
  EXPECT_EQ(said.cause, Cause::kNonCommunicationHang);
  EXPECT_THAT(said.entity.ranks, ElementsAre(RankId(1)));
  EXPECT_THAT(said.victims, Contains(RankId(0)));
}

TEST(MessagesTest, ASumAgainstAReceiveIsOnlyALead) {
  JobView view = Job();
  Message(view, 1, kRecv, 0);
  Open(view.ranks[0], CollectiveKind::kAllReduce);
  const Verdict said = Only(view);
  EXPECT_EQ(said.grade, Grade::kHypothesis);
  EXPECT_THAT(said.entity.ranks, ElementsAre(RankId(0), RankId(1)));
}

// Rank 0 sends, rank 1 receives, and nothing comes.
JobView OnItsWay() {
  JobView view = Job();
  Message(view, 0, kSend, 1);
  Message(view, 1, kRecv, 0);
  return view;
}

TEST(MessagesTest, AMessageWithBothEndsThereAccusesNobody) {
  const Diagnosis said = Say(OnItsWay());
  EXPECT_THAT(said.verdicts, IsEmpty());
  EXPECT_THAT(said.abstained, Contains(Field(&Abstention::missing, HasSubstr("both ends"))));
}

void Cut(JobView& view, std::uint32_t from, std::uint32_t to, std::uint32_t backoff = 5) {
  view.ranks[from].paths.push_back(PathTo(to, backoff, 1000));
}

TEST(MessagesTest, OnePathNamesTheLinkAndNeitherEnd) {
  JobView view = OnItsWay();
  Cut(view, 0, 1);
  const Verdict said = Only(view);
  EXPECT_EQ(said.cause, Cause::kCommunicationHang);
  EXPECT_EQ(said.entity.type, EntityType::kLink);
  EXPECT_THAT(said.entity.ranks, ElementsAre(RankId(0), RankId(1)));
  EXPECT_THAT(said.entity.node, IsEmpty());
  EXPECT_THAT(said.sentence,
              HasSubstr("which of its two ends is at fault, one path does not show"));
}

TEST(MessagesTest, AllPathsOfARankNameItsNetwork) {
  JobView view = OnItsWay();
  Cut(view, 0, 1);
  Cut(view, 2, 0);
  const Verdict said = Only(view);
  EXPECT_EQ(said.entity.type, EntityType::kRank);
  EXPECT_THAT(said.entity.ranks, ElementsAre(RankId(0)));
  EXPECT_EQ(said.entity.node, "node0");
  EXPECT_THAT(said.sentence, HasSubstr("ends at rank 0: its network is down"));
}

TEST(MessagesTest, OneLossOnTheWayIsNoCut) {
  JobView view = OnItsWay();
  Cut(view, 0, 1, 1);
  EXPECT_THAT(Say(view).verdicts, IsEmpty());
}

// Rank 0 and its two groups of two: all members are inside both.
JobView TwoPairs() {
  JobView view = Job();
  view.ranks[2].open_ops.clear();
  view.ranks[2].groups = {{GroupId(kWorld), 5, 5, 5}, {GroupId(kSecondPair), 5, 5, 5}};
  view.ranks[1].groups.push_back({GroupId(kFirstPair), 5, 5, 5});
  view.ranks[0].groups.push_back({GroupId(kFirstPair), 5, 5, 5});
  view.ranks[0].groups.push_back({GroupId(kSecondPair), 5, 5, 5});
  Open(view.ranks[0], CollectiveKind::kAllReduce, kFirstPair);
  Open(view.ranks[1], CollectiveKind::kAllReduce, kFirstPair);
  Open(view.ranks[0], CollectiveKind::kAllReduce, kSecondPair);
  Open(view.ranks[2], CollectiveKind::kAllReduce, kSecondPair);
  return view;
}

TEST(MessagesTest, GroupsOfTwoWhosePathsAllEndAtOneRankNameIt) {
  JobView view = TwoPairs();
  Cut(view, 1, 0);
  Cut(view, 0, 2);
  const Verdict said = Only(view);
  EXPECT_THAT(said.entity.ranks, ElementsAre(RankId(0)));
  EXPECT_THAT(said.victims, ElementsAre(RankId(1), RankId(2), RankId(3)));
}

TEST(MessagesTest, GroupsOfTwoOnTheSamePairOfNodesNameTheLinkBetweenThem) {
  JobView view = TwoPairs();
  view.ranks[1].node = view.ranks[2].node = "other";
  Cut(view, 1, 0);
  Cut(view, 0, 2);
  const Verdict said = Only(view);
  EXPECT_EQ(said.entity.type, EntityType::kLink);
  EXPECT_EQ(said.entity.link_src, "node0");
  EXPECT_EQ(said.entity.link_dst, "other");
}

TEST(MessagesTest, OfTwoGroupsWithOnePathSeenEachStandsForItself) {
  JobView view = TwoPairs();
  Cut(view, 1, 0);
  const Diagnosis said = Say(view);
  ASSERT_EQ(said.verdicts.size(), 2u);
  for (const Verdict& verdict : said.verdicts) {
    EXPECT_EQ(verdict.entity.ranks.size(), 2u) << verdict.sentence;
    EXPECT_NE(verdict.entity.type, EntityType::kRank);
  }
}

}  // namespace
}  // namespace fathom::diagnosis
