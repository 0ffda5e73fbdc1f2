// What the hardware of nodes says, as the page and the API read it.
#include "collector/export/hardware_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fathom::collector {
namespace {

using Json = nlohmann::json;

diagnosis::JobView GpuJob() {
  diagnosis::JobView view;
  for (std::uint32_t r = 0; r < 3; ++r) {
    auto& rank = view.ranks.emplace_back();
    rank.rank = RankId(r);
    rank.node = r < 2 ? "n1" : "n2";
    rank.gpu.emplace();
    rank.gpu->bus_id = r == 1 ? "0000:41:00.0" : "0000:C1:00.0";
  }
  return view;
}

diagnosis::HardwareDevice Gpu(const std::string& name) {
  diagnosis::HardwareDevice device;
  device.kind = DeviceKind::kGpu;
  device.name = name;
  return device;
}

TEST(HardwareJsonTest, NoNodesAreAnEmptyList) {
  EXPECT_EQ(HardwareJson({}, {}), R"({"nodes":[]})");
}

TEST(HardwareJsonTest, AGpuNamesTheRanksThatDriveItOnItsOwnNode) {
  diagnosis::NodeHardware node;
  node.node = "n1";
  node.devices = {Gpu("00000000:c1:00.0"), Gpu("00000000:41:00.0"), Gpu("00000000:81:00.0")};
  const Json json = Json::parse(HardwareJson(GpuJob(), {node}));
  const Json& devices = json["nodes"][0]["devices"];
  EXPECT_EQ(devices[0]["ranks"], Json({0})) << "rank 2 has the same place on another node";
  EXPECT_EQ(devices[1]["ranks"], Json({1}));
  EXPECT_EQ(devices[2]["ranks"], Json::array());
  EXPECT_EQ(devices[0]["kind"], std::string(DeviceKindName(DeviceKind::kGpu)));
}

TEST(HardwareJsonTest, AProcessIsThatOfItsRankOnItsOwnNode) {
  diagnosis::JobView view = GpuJob();
  for (auto& rank : view.ranks) rank.pid = rank.rank.value == 1 ? 71 : 70;
  diagnosis::NodeHardware node;
  node.node = "n1";
  node.devices = {Gpu("70"), Gpu("71"), Gpu("72")};
  for (auto& device : node.devices) device.kind = DeviceKind::kProcess;
  const Json devices = Json::parse(HardwareJson(view, {node}))["nodes"][0]["devices"];
  EXPECT_EQ(devices[0]["ranks"], Json({0})) << "rank 2 has the same number on another node";
  EXPECT_EQ(devices[1]["ranks"], Json({1}));
  EXPECT_EQ(devices[2]["ranks"], Json::array());
}

TEST(HardwareJsonTest, ARankWhoseGpuIsNotKnownDrivesNone) {
  diagnosis::JobView view = GpuJob();
  view.ranks[0].gpu->bus_id = "";
  view.ranks[1].gpu.reset();
  diagnosis::NodeHardware node;
  node.node = "n1";
  node.devices = {Gpu("00000000:C1:00.0"), Gpu("00000000:41:00.0"), Gpu("")};
  const Json json = Json::parse(HardwareJson(view, {node}));
  for (const Json& device : json["nodes"][0]["devices"]) {
    EXPECT_EQ(device["ranks"], Json::array()) << device;
  }
}

TEST(HardwareJsonTest, PointsAreMillisecondsAndValuesAndHostileWordsStayWords) {
  diagnosis::NodeHardware node;
  node.node = "n\"1\n";
  node.newest = WallNs(1'700'000'000'250'000'000);
  node.sources.push_back({"nvml", "hangs", "call <b>\"x\"</b> does not return"});
  auto& device = node.devices.emplace_back(Gpu("00000000:C1:00.0"));
  auto& series = device.series.emplace_back();
  series.note = "a\\b";
  series.points = {{WallNs(1'700'000'000'000'000'000), 61.5}, {WallNs(0), -1}};
  const Json json = Json::parse(HardwareJson({}, {node}));
  const Json& told = json["nodes"][0];
  EXPECT_EQ(told["node"], "n\"1\n");
  EXPECT_NEAR(told["newest_ms"].get<double>(), 1'700'000'000'250.0, 0.001);
  EXPECT_EQ(told["sources"][0]["reason"], "call <b>\"x\"</b> does not return");
  const Json& line = told["devices"][0]["series"][0];
  EXPECT_EQ(line["note"], "a\\b");
  EXPECT_EQ(line["points"], Json::parse("[[1700000000000.0,61.5],[0.0,-1.0]]"));
  const MetricTraits traits = TraitsOf(series.metric);
  EXPECT_EQ(line["metric"], std::string(traits.name));
  EXPECT_EQ(line["unit"], std::string(traits.unit));
  EXPECT_EQ(line["counter"], traits.counter);
}

}  // namespace
}  // namespace fathom::collector
