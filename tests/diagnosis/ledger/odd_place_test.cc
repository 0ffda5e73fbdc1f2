// Which switch slow groups have in common, where it is told how nodes hang on switches.
#include "diagnosis/ledger/odd_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fathom::diagnosis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Eight nodes of one rank each; two nodes a leaf switch, two leaf switches a spine.
struct Cluster {
  JobView view;
  Topology topology;
  std::vector<Group> groups;

  Cluster() {
    for (std::uint32_t r = 0; r < 8; ++r) {
      RankFacts facts;
      facts.rank = RankId(r);
      facts.node = "n" + std::to_string(r);
      view.ranks.push_back(facts);
      topology.leaves[facts.node] = {{"leaf" + std::to_string(r / 2), {}}};
    }
    view.world_size = 8;
    for (int leaf = 0; leaf < 4; ++leaf) {
      topology.above["leaf" + std::to_string(leaf)] = "spine" + std::to_string(leaf / 2);
    }
    topology.above["spine0"] = topology.above["spine1"] = "core";
  }

  void Add(const std::vector<std::uint32_t>& ranks) {
    Group group;
    group.id = GroupId(groups.size() + 1);
    for (const std::uint32_t rank : ranks) group.members.emplace_back(rank);
    groups.push_back(group);
  }
  std::optional<OddPlace> PlaceOf(std::size_t odd_count, bool told = true) const {
    std::vector<OddGroup> odd;
    std::vector<const Group*> well;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (i < odd_count) {
        odd.emplace_back();
        odd.back().group = &groups[i];
      } else {
        well.push_back(&groups[i]);
      }
    }
    return PlaceOfOdd(view, odd, well, told ? &topology : nullptr);
  }
};

TEST(OddPlaceTest, ALeafSwitchOnWhichAllSlowGroupsHaveRanks) {
  Cluster cluster;
  cluster.Add({0, 4});
  cluster.Add({1, 6});
  cluster.Add({2, 5});
  cluster.Add({3, 7});
  const auto place = cluster.PlaceOf(2);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->entity.type, EntityType::kSwitch);
  EXPECT_EQ(place->entity.link_src, "leaf0");
  EXPECT_THAT(place->entity.ranks, ElementsAre(RankId(0), RankId(1)));
  EXPECT_THAT(place->victims, ElementsAre(RankId(4), RankId(6)));
  EXPECT_EQ(place->cause, Cause::kLinkSlow);
  EXPECT_THAT(place->where, HasSubstr("leaf switch leaf0"));
  EXPECT_FALSE(cluster.PlaceOf(2, false)) << "nobody told";
}

TEST(OddPlaceTest, ASwitchAboveTheLeaves) {
  Cluster cluster;
  // Through spine0 between its leaves; what stays below a leaf, or is on the other side, is well.
  cluster.Add({0, 2});
  cluster.Add({1, 3});
  cluster.Add({4, 6});
  cluster.Add({5, 7});
  cluster.Add({0, 1});
  cluster.Add({2, 3});
  const auto place = cluster.PlaceOf(2);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->entity.link_src, "spine0");
  EXPECT_THAT(place->entity.ranks, ElementsAre(RankId(0), RankId(1), RankId(2), RankId(3)));
}

TEST(OddPlaceTest, AWellGroupThroughASwitchClearsIt) {
  Cluster cluster;
  cluster.Add({0, 4});
  cluster.Add({1, 6});
  cluster.Add({0, 7});  // through leaf0 as well
  const auto place = cluster.PlaceOf(2);
  EXPECT_FALSE(place && place->entity.link_src == "leaf0");
}

TEST(OddPlaceTest, ANodeThatIsNotToldOfMakesNoSwitch) {
  Cluster cluster;
  cluster.Add({0, 4});
  cluster.Add({1, 6});
  cluster.Add({2, 5});
  cluster.topology.leaves.erase("n7");
  EXPECT_FALSE(cluster.PlaceOf(2));
}

}  // namespace
}  // namespace fathom::diagnosis
