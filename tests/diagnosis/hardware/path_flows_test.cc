// Connections as agents tell them, and what the ranks have sent each other by them.
#include "diagnosis/hardware/tell/path_flows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace fathom::diagnosis {
namespace {

constexpr double kMegabyte = 1e6;

WallNs InSeconds(double seconds) { return WallNs(static_cast<std::int64_t>(seconds * 1e9)); }

struct Counters {
  double at, bytes, seconds;
};

HardwareDevice Connection(const std::string& name, const std::vector<Counters>& points) {
  HardwareDevice device{DeviceKind::kConnection, name, {}};
  HardwareSeries bytes{HardwareMetric::kConfirmedBytes, {}, ""};
  HardwareSeries seconds{HardwareMetric::kSendingTime, {}, ""};
  for (const Counters& point : points) {
    bytes.points.push_back({InSeconds(point.at), point.bytes});
    seconds.points.push_back({InSeconds(point.at), point.seconds});
  }
  device.series = {bytes, seconds};
  return device;
}

// Rank r is process 100 + r of node "n" and r / 2.
JobView Job(std::uint32_t ranks) {
  JobView view;
  view.world_size = ranks;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    RankFacts facts;
    facts.rank = RankId(r);
    facts.node = absl::StrCat("n", r / 2);
    facts.pid = 100 + r;
    view.ranks.push_back(facts);
  }
  return view;
}

NodeHardware Node(const std::string& name, std::vector<HardwareDevice> devices) {
  return {name, InSeconds(20), std::move(devices), {}};
}

TEST(PathFlows, JoinsTheEndsOverNodesAndSplitsAtTheOnset) {
  JobView view = Job(4);
  const std::vector<NodeHardware> hardware = {
      Node("n0", {Connection("101 10.0.0.1:5 10.0.0.2:6", {{4, 8 * kMegabyte, 0.2},
                                                           {8, 16 * kMegabyte, 0.4},
                                                           {12, 20 * kMegabyte, 2.4},
                                                           {16, 24 * kMegabyte, 4.4}})}),
      Node("n1", {Connection("102 10.0.0.2:6 10.0.0.1:5", {{4, kMegabyte, 0.1}})})};
  TellFlows(hardware, InSeconds(9), view);
  ASSERT_EQ(view.ranks[1].flows.size(), 1u);
  const PathFlow& flow = view.ranks[1].flows[0];
  EXPECT_EQ(flow.peer, RankId(2));
  EXPECT_FALSE(flow.within_host);
  EXPECT_EQ(flow.bytes_before, 16'000'000u);
  EXPECT_EQ(flow.bytes_since, 8'000'000u);
  EXPECT_NEAR(flow.busy_before.Seconds(), 0.4, 1e-6);
  EXPECT_NEAR(flow.busy_since.Seconds(), 4.0, 1e-6);
  ASSERT_EQ(view.ranks[2].flows.size(), 1u) << "what it sends the other way";
  EXPECT_EQ(view.ranks[2].flows[0].bytes_since, 0u);
  EXPECT_TRUE(view.ranks[0].flows.empty());
}

TEST(PathFlows, ConnectionsBetweenTheSameRanksAreOneFlow) {
  JobView view = Job(2);
  TellFlows({Node("n0", {Connection("100 127.0.0.1:1 127.0.0.1:2", {{1, 3 * kMegabyte, 1}}),
                         Connection("101 127.0.0.1:2 127.0.0.1:1", {{1, kMegabyte, 1}}),
                         Connection("100 127.0.0.1:3 127.0.0.1:4", {{2, 4 * kMegabyte, 2}}),
                         Connection("101 127.0.0.1:4 127.0.0.1:3", {{2, kMegabyte, 1}})})},
            InSeconds(9), view);
  ASSERT_EQ(view.ranks[0].flows.size(), 1u);
  EXPECT_EQ(view.ranks[0].flows[0].bytes_before, 7'000'000u);
  EXPECT_TRUE(view.ranks[0].flows[0].within_host);
  EXPECT_NEAR(view.ranks[0].flows[0].busy_before.Seconds(), 3, 1e-6);
}

TEST(PathFlows, WhoseOtherEndIsNoRankOrItselfHasNone) {
  JobView view = Job(2);
  TellFlows({Node("n0", {Connection("100 10.0.0.1:1 10.0.0.9:2", {{1, kMegabyte, 1}}),
                         Connection("100 127.0.0.1:3 127.0.0.1:4", {{1, kMegabyte, 1}}),
                         Connection("100 127.0.0.1:4 127.0.0.1:3", {{1, kMegabyte, 1}}),
                         Connection("777 127.0.0.1:5 127.0.0.1:6", {{1, kMegabyte, 1}})})},
            InSeconds(9), view);
  EXPECT_TRUE(view.ranks[0].flows.empty());
  EXPECT_TRUE(view.ranks[1].flows.empty());
}

TEST(PathFlows, EndsThatTwoProcessesHaveTellNothing) {
  JobView view = Job(4);
  const std::string one = "127.0.0.1:1 127.0.0.1:2", other = "127.0.0.1:2 127.0.0.1:1";
  TellFlows({Node("n0", {Connection("100 " + one, {{1, kMegabyte, 1}}),
                         Connection("101 " + other, {{1, kMegabyte, 1}})}),
             Node("n1", {Connection("102 " + one, {{1, kMegabyte, 1}}),
                         Connection("103 " + other, {{1, kMegabyte, 1}})})},
            InSeconds(9), view);
  for (const RankFacts& facts : view.ranks) EXPECT_TRUE(facts.flows.empty());
}

TEST(PathFlows, OfAConnectionFirstSeenAfterTheOnsetAllIsSince) {
  JobView view = Job(2);
  TellFlows({Node("n0", {Connection("100 127.0.0.1:1 127.0.0.1:2",
                                    {{12, kMegabyte, 1}, {14, 3 * kMegabyte, 2}}),
                         Connection("101 127.0.0.1:2 127.0.0.1:1", {{12, 1, 1}})})},
            InSeconds(9), view);
  ASSERT_EQ(view.ranks[0].flows.size(), 1u);
  EXPECT_EQ(view.ranks[0].flows[0].bytes_before, 0u);
  EXPECT_EQ(view.ranks[0].flows[0].bytes_since, 3'000'000u);
}

TEST(PathFlows, NamesThatAreNoConnectionAreLeftOut) {
  JobView view = Job(2);
  for (const char* name : {"", "100", "100 a", "100 a b c", "x a b", "-1 a b", "100  a b"}) {
    TellFlows({Node("n0", {Connection(name, {{1, kMegabyte, 1}})})}, InSeconds(9), view);
  }
  EXPECT_TRUE(view.ranks[0].flows.empty());
}

TEST(PathFlows, ASignalSaysThatTheyAreAwaited) {
  const auto awaited = [](std::vector<HardwareDevice> devices, const char* state) {
    JobView view = Job(2);
    NodeHardware node = Node("n0", std::move(devices));
    node.sources = {{"cpu", "on", ""}, {"connection", state, ""}};
    TellFlows({node}, InSeconds(9), view);
    return !view.signals.empty() && view.signals.front().name == kPathsAwaited;
  };
  EXPECT_TRUE(awaited({}, "on"));
  EXPECT_FALSE(awaited({}, "missing"));
  EXPECT_FALSE(awaited({Connection("100 127.0.0.1:1 127.0.0.1:2", {{12, kMegabyte, 1}}),
                        Connection("101 127.0.0.1:2 127.0.0.1:1", {{12, 1, 1}})},
                       "on"));
}

TEST(PathFlows, AsksTheNodesOfSmallJobs) {
  EXPECT_EQ(FlowNodesWanted(Job(4)), (std::vector<std::string>{"n0", "n1"}));
  EXPECT_TRUE(FlowNodesWanted(Job(2 * kMostFlowNodes + 2)).empty());
}

}  // namespace
}  // namespace fathom::diagnosis
