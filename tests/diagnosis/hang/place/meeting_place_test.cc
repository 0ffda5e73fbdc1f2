// What stuck pieces of communication have in common, as data.
#include "diagnosis/hang/place/meeting_place.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

using Kind = MeetingPlace::Kind;
using ::testing::ElementsAreArray;

struct MeetingCase {
  const char* name;
  std::vector<const char*> nodes;  // of ranks 0, 1, …
  std::vector<std::vector<std::uint32_t>> pieces;
  Kind kind;
  std::vector<std::uint32_t> ranks;
};

std::vector<RankId> RanksOf(const std::vector<std::uint32_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

class MeetingTest : public ::testing::TestWithParam<MeetingCase> {};

TEST_P(MeetingTest, IsNamedOnlyWhereThePiecesShowIt) {
  JobView view;
  for (std::uint32_t rank = 0; rank < GetParam().nodes.size(); ++rank) {
    RankFacts facts;
    facts.rank = RankId(rank);
    facts.node = GetParam().nodes[rank];
    view.ranks.push_back(facts);
  }
  std::vector<Piece> pieces;
  for (const auto& piece : GetParam().pieces) pieces.push_back(RanksOf(piece));
  const MeetingPlace place = WhereTheyMeet(view, pieces);
  EXPECT_EQ(place.kind, GetParam().kind);
  EXPECT_THAT(place.ranks, ElementsAreArray(RanksOf(GetParam().ranks)));
  EXPECT_EQ(InWords(place).empty(), place.kind == Kind::kNone);
}

INSTANTIATE_TEST_SUITE_P(
    All, MeetingTest,
    ::testing::Values(
        MeetingCase{"nothing", {"a", "b"}, {}, Kind::kNone, {}},
        MeetingCase{"one_path_is_a_link", {"a", "b"}, {{0, 1}}, Kind::kLink, {0, 1}},
        MeetingCase{"two_paths_of_one_rank", {"a", "b", "c"}, {{0, 1}, {1, 2}}, Kind::kRank, {1}},
        MeetingCase{"all_paths_of_one_rank",
                    {"a", "b", "c", "d"},
                    {{0, 2}, {1, 2}, {2, 3}},
                    Kind::kRank,
                    {2}},
        MeetingCase{"nodes_not_known", {"", "", ""}, {{0, 1}, {1, 2}}, Kind::kRank, {1}},
        MeetingCase{"all_on_one_node", {"a", "a", "a"}, {{0, 1}, {1, 2}}, Kind::kRank, {1}},
        MeetingCase{"two_paths_apart", {"a", "b", "c", "d"}, {{0, 1}, {2, 3}}, Kind::kNone, {}},
        MeetingCase{"a_ring_of_paths", {"a", "b", "c"}, {{0, 1}, {1, 2}, {0, 2}}, Kind::kNone, {}},
        // Rank 0 is in both, and so is the node of 1 and 2.
        MeetingCase{
            "two_nodes_in_common", {"a", "b", "b"}, {{0, 1}, {0, 2}}, Kind::kLink, {0, 1, 2}},
        MeetingCase{
            "a_node_of_several_ranks", {"a", "a", "b", "c"}, {{0, 2}, {1, 3}}, Kind::kNode, {0, 1}},
        MeetingCase{
            "between_two_nodes", {"a", "a", "b", "b"}, {{0, 2}, {1, 3}}, Kind::kLink, {0, 1, 2, 3}},
        MeetingCase{"one_op", {"a", "b", "c"}, {{0, 1, 2}}, Kind::kNone, {}},
        MeetingCase{"ops_of_one_rank",
                    {"a", "b", "c", "d"},
                    {{0, 1}, {0, 2}, {0, 1, 2, 3}},
                    Kind::kRank,
                    {0}},
        MeetingCase{"ops_of_two_ranks", {"a", "b", "c"}, {{0, 1}, {0, 1, 2}}, Kind::kNone, {}}),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace fathom::diagnosis
