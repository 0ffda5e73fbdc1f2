// Files that tell how nodes hang on switches: both forms, and what is wrong with others.
#include "collector/config/topology_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/config/host_list.h"

namespace fathom::collector {
namespace {

using diagnosis::LeafOf;
using diagnosis::SwitchesBetween;
using diagnosis::Topology;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Names(const std::string& text) {
  const auto names = ExpandHostList(text, 1000);
  return names.ok() ? *names : std::vector<std::string>{std::string(names.status().message())};
}

std::string Error(const std::string& text) {
  const auto topology = ParseTopology(text, "t.conf");
  return topology.ok() ? "" : std::string(topology.status().message());
}

TEST(HostListTest, NamesRangesAndZeros) {
  EXPECT_THAT(Names("n7"), ElementsAre("n7"));
  EXPECT_THAT(Names("n[08-10,2],login"), ElementsAre("n08", "n09", "n10", "n2", "login"));
  EXPECT_THAT(Names("r[1-2]n[0-1]-ib"), ElementsAre("r1n0-ib", "r1n1-ib", "r2n0-ib", "r2n1-ib"));
}

TEST(HostListTest, WhatIsWrongIsSaid) {
  EXPECT_THAT(Names("n[1-").front(), HasSubstr("'[' without ']'"));
  EXPECT_THAT(Names("n1]").front(), HasSubstr("']' without '['"));
  EXPECT_THAT(Names("n[3-1]").front(), HasSubstr("ends before it begins"));
  EXPECT_THAT(Names("n[a-b]").front(), HasSubstr("two numbers"));
  EXPECT_THAT(Names("n[]").front(), HasSubstr("two numbers"));
  EXPECT_THAT(Names("a,,b").front(), HasSubstr("a name is missing"));
  EXPECT_THAT(Names("n[1-99999999999999999999]").front(), HasSubstr("two numbers"));
  EXPECT_THAT(Names("n[1-18446744073709551615]").front(), HasSubstr("more than 1000 names"));
  EXPECT_THAT(Names("a[1-500]b[1-500]").front(), HasSubstr("more than 1000 names"));
}

TEST(TopologyFileTest, TopologyConfOfSlurm) {
  const auto topology = ParseTopology(
      "# cluster\n"
      "SwitchName=leaf1 Nodes=n[01-02]  # first rack\n"
      "switchname=leaf2 nodes=n[03-04] \\\n"
      "   LinkSpeed=400\n"
      "SwitchName=spine Switches=leaf[1-2]\n",
      "t.conf");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(LeafOf(*topology, "n02", 5), "leaf1");
  EXPECT_EQ(LeafOf(*topology, "n03.cluster.example", 0), "leaf2") << "the short name will do";
  EXPECT_EQ(LeafOf(*topology, "n05", 0), "");
  EXPECT_THAT(SwitchesBetween(*topology, {"leaf1", "leaf2"}), ElementsAre("spine"));
  EXPECT_TRUE(SwitchesBetween(*topology, {"leaf1"}).empty());
  EXPECT_TRUE(HangsOn(*topology, "leaf1", "spine"));
}

TEST(TopologyFileTest, YamlWithRails) {
  const auto topology = ParseTopology(
      "switches:\n"
      "  - {name: rail0, nodes: \"m[1-8]\", gpus: [0, 1]}\n"
      "  - {name: rail1, nodes: \"m[1-8]\", gpus: [2, 3]}\n"
      "  - {name: core, switches: \"rail[0-1]\"}\n",
      "t.yaml");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(LeafOf(*topology, "m3", 1), "rail0");
  EXPECT_EQ(LeafOf(*topology, "m3", 2), "rail1");
  EXPECT_EQ(LeafOf(*topology, "m3", 4), "");
}

TEST(TopologyFileTest, TrafficGoesUpToTheFirstSwitchInCommon) {
  const auto topology = ParseTopology(
      "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=c Nodes=n3\n"
      "SwitchName=s1 Switches=a,b\nSwitchName=s2 Switches=c\nSwitchName=top Switches=s1,s2\n",
      "t.conf");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_THAT(SwitchesBetween(*topology, {"a", "b"}), ElementsAre("s1"));
  EXPECT_THAT(SwitchesBetween(*topology, {"a", "c"}), ElementsAre("s1", "s2", "top"));
}

TEST(TopologyFileTest, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_THAT(Error("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n[0-1]\n"),
              HasSubstr("t.conf:2: node n1 hangs on switch a already"));
  EXPECT_THAT(Error("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n"),
              HasSubstr("t.conf:2: switch a is defined in line 1 already"));
  EXPECT_THAT(Error("SwitchName=a Nodes=n1\nSwitchName=s Switches=a,x\n"),
              HasSubstr("t.conf:2: switch x is not defined"));
  EXPECT_THAT(Error("SwitchName=a Nodes=n1\nSwitchName=s Switches=a\nSwitchName=t Switches=a\n"),
              HasSubstr("t.conf:3: switch a hangs on s already"));
  EXPECT_THAT(Error("SwitchName=l Nodes=n1\nSwitchName=s Switches=t\nSwitchName=t Switches=s\n"),
              HasSubstr("hangs on itself"));
  EXPECT_THAT(Error("SwitchName=a\n"), HasSubstr("wants either nodes or switches"));
  EXPECT_THAT(Error("Nodes=n1\n"), HasSubstr("t.conf:1: a switch without a name"));
  EXPECT_THAT(Error("SwitchName=a Nodse=n1\n"), HasSubstr("t.conf:1: 'Nodse' is not known"));
  EXPECT_THAT(Error("SwitchName=a Nodes\n"), HasSubstr("'Nodes' wants a value"));
  EXPECT_THAT(Error("BlockName=b Nodes=n1\n"), HasSubstr("topology/tree is wanted"));
  EXPECT_THAT(Error("SwitchName=a Nodes=n[1-\n"), HasSubstr("t.conf:1: 'n[1-'"));
  EXPECT_THAT(Error("SwitchName=a \\\n"), HasSubstr("t.conf:1"));
  EXPECT_THAT(Error(""), HasSubstr("neither topology.conf"));
  EXPECT_THAT(Error("switches: []\n"), HasSubstr("no switch has nodes"));
  EXPECT_THAT(Error("switches:\n  - {name: a, nodes: n1, gpu: [1]}\n"),
              HasSubstr("t.conf:2: 'gpu' is not known"));
  EXPECT_THAT(Error("switches:\n  - {name: a, nodes: n1, gpus: [x]}\n"), HasSubstr("t.conf:2"));
  EXPECT_THAT(Error("switches:\n  - {name: a, nodes: [n1]}\n"), HasSubstr("t.conf:2: 'nodes'"));
  EXPECT_THAT(Error("switches:\n  - {name: a, nodes: n1}\nleaves: 3\n"),
              HasSubstr("t.conf:3: 'leaves' is not known"));
  EXPECT_THAT(Error("switches: [\n"), HasSubstr("t.conf:"));
  EXPECT_THAT(Error("switches:\n  - {name: a, nodes: m1, gpus: [0]}\n  - {name: b, nodes: m1}\n"),
              HasSubstr("t.conf:3: node m1 hangs on switch a already"));
  EXPECT_THAT(std::string(ReadTopology("/no/such/file").status().message()),
              HasSubstr("cannot be read"));
}

TEST(TopologyFileTest, NoFileTellsNothing) { EXPECT_EQ(*ReadTopology(""), nullptr); }

}  // namespace
}  // namespace fathom::collector
