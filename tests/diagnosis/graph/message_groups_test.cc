#include "diagnosis/graph/message_groups.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/diagnosis/graph/add_group.h"

namespace fathom::diagnosis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void AddOp(JobView& view, std::uint32_t rank, std::uint64_t group, CollectiveKind kind) {
  CommOp op;
  op.group = GroupId(group);
  op.kind = kind;
  view.rows[RankId(rank)].ops.push_back(op);
}

// Two replicas of two stages of two tensor ranks: tensor groups 1 and 2, pipelines 11 to 14.
JobView Job() {
  JobView view;
  AddGroup(view, 1, {0, 1});
  AddGroup(view, 2, {2, 3});
  AddGroup(view, 11, {0, 4});
  AddGroup(view, 12, {1, 5});
  AddGroup(view, 13, {2, 6});
  AddGroup(view, 14, {3, 7});
  return view;
}

TEST(MessageGroupsTest, GroupsOfTheSameShapeCountLikewise) {
  JobView view = Job();
  AddOp(view, 0, 1, CollectiveKind::kAllReduce);
  AddOp(view, 0, 11, CollectiveKind::kSend);
  AddOp(view, 0, 11, CollectiveKind::kAllReduce);
  EXPECT_THAT(MessageGroups(view), ElementsAre(GroupId(11), GroupId(12), GroupId(13), GroupId(14)));
}

TEST(MessageGroupsTest, AShapeThatIsSeenWithCollectivesOnlyTellsNothing) {
  JobView view = Job();
  AddOp(view, 0, 11, CollectiveKind::kRecv);
  AddOp(view, 1, 12, CollectiveKind::kAllReduce);
  EXPECT_THAT(MessageGroups(view), ElementsAre(GroupId(11)));
}

TEST(MessageGroupsTest, UnknownMembersHaveNoShape) {
  JobView view = Job();
  AddGroup(view, 20, {});
  AddGroup(view, 21, {0, 1, 4});
  AddOp(view, 0, 20, CollectiveKind::kSend);
  AddOp(view, 0, 21, CollectiveKind::kSend);
  EXPECT_THAT(MessageGroups(view), ElementsAre(GroupId(20), GroupId(21)));
}

TEST(MessageGroupsTest, NothingIsKnownWithoutRows) { EXPECT_THAT(MessageGroups(Job()), IsEmpty()); }

}  // namespace
}  // namespace fathom::diagnosis
