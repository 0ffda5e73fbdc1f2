#include "collector/agents/hardware_table.h"

#include <gtest/gtest.h>

#include <string>

#include "fathom/v1/hardware.pb.h"
#include "tests/collector/fake_clock.h"

namespace fathom::collector {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

v1::NodeHardware News(std::int64_t at_s, HardwareMetric metric, double value,
                      const std::string& device = "0000:1B:00.0") {
  v1::NodeHardware news;
  news.set_sampled_wall_ns(at_s * kSecond);
  auto& told = *news.add_devices();
  told.set_kind(static_cast<std::uint32_t>(DeviceKind::kGpu));
  told.set_name(device);
  auto& reading = *told.add_readings();
  reading.set_metric(static_cast<std::uint32_t>(metric));
  reading.set_value(value);
  return news;
}

class HardwareTableTest : public testing::Test {
 protected:
  const std::vector<diagnosis::HardwarePoint>& Points() {
    nodes_ = table_.Of({"n0"});
    return nodes_.at(0).devices.at(0).series.at(0).points;
  }
  FakeClock clock_;
  HardwareTable table_{clock_};
  std::vector<diagnosis::NodeHardware> nodes_;
};

TEST_F(HardwareTableTest, KeepsWhereAValueChanged) {
  for (const auto& [at, value] : {std::pair{1, 1980}, {2, 1980}, {3, 1200}, {3, 1100}, {2, 900}}) {
    table_.Apply("n0", News(at, HardwareMetric::kSmClock, value));
  }
  ASSERT_EQ(Points().size(), 2u) << "what repeats, and what comes late, adds nothing";
  EXPECT_EQ(Points()[1].value, 1200);
  EXPECT_EQ(nodes_[0].newest, WallNs(3 * kSecond));
  EXPECT_TRUE(table_.Of({"n1"}).empty());
}

TEST_F(HardwareTableTest, WhatIsNotToldAgainStands) {
  table_.NothingNew("n0", WallNs(kSecond));
  EXPECT_TRUE(table_.Of({"n0"}).empty());
  table_.Apply("n0", News(2, HardwareMetric::kSmClock, 1200));
  table_.NothingNew("n0", WallNs(9 * kSecond));
  table_.NothingNew("n0", WallNs(5 * kSecond));
  EXPECT_EQ(Points().size(), 1u);
  EXPECT_EQ(nodes_[0].newest, WallNs(9 * kSecond));
}

TEST_F(HardwareTableTest, LongAgoIsKnownInLessDetailAndNeverForgotten) {
  for (int i = 1; i <= 1000; ++i) {
    table_.Apply("n0", News(i, HardwareMetric::kSmClock, 1000 + i));
  }
  const std::vector<diagnosis::HardwarePoint>& points = Points();
  EXPECT_LE(points.size(), HardwareTable::kMostPoints);
  EXPECT_EQ(points.front().at, WallNs(kSecond));
  EXPECT_EQ(points.back().value, 2000);
  EXPECT_EQ(points[points.size() - 2].value, 1999);
}

TEST_F(HardwareTableTest, AWholeTellingDropsDevicesThatItDoesNotName) {
  table_.Apply("n0", News(1, HardwareMetric::kSmClock, 1, "0000:1B:00.0"));
  table_.Apply("n0", News(2, HardwareMetric::kSmClock, 1, "0000:1C:00.0"));
  EXPECT_EQ(table_.Of({"n0"})[0].devices.size(), 2u);
  v1::NodeHardware whole = News(3, HardwareMetric::kSmClock, 1, "0000:1C:00.0");
  whole.set_whole(true);
  table_.Apply("n0", whole);
  ASSERT_EQ(table_.Of({"n0"})[0].devices.size(), 1u);
  EXPECT_EQ(table_.Of({"n0"})[0].devices[0].name, "0000:1C:00.0");
}

TEST_F(HardwareTableTest, WhatOnlyALaterAgentKnowsIsLeftOutAndTheRestTaken) {
  v1::NodeHardware news = News(1, HardwareMetric::kSmClock, 1980);
  news.mutable_devices(0)->add_readings()->set_metric(kHardwareMetricCount);
  v1::HardwareDevice& unknown = *news.add_devices();
  unknown.set_kind(kDeviceKindCount);
  unknown.set_name("new");
  unknown.add_readings()->set_metric(1);
  table_.Apply("n0", news);
  ASSERT_EQ(Points().size(), 1u);
  EXPECT_EQ(nodes_[0].devices.size(), 1u);
  EXPECT_EQ(nodes_[0].devices[0].series.size(), 1u);
  EXPECT_EQ(table_.left_out(), 2u);
}

TEST_F(HardwareTableTest, MoreReadingsOfADeviceMayComeApart) {
  v1::NodeHardware news = News(1, HardwareMetric::kSmClock, 1980);
  *news.add_later() = News(1, HardwareMetric::kPower, 300).devices(0);
  news.set_whole(true);
  table_.Apply("n0", news);
  table_.Apply("n0", news);
  const auto nodes = table_.Of({"n0"});
  ASSERT_EQ(nodes[0].devices.size(), 1u);
  EXPECT_EQ(nodes[0].devices[0].series.size(), 2u);
}

TEST_F(HardwareTableTest, ConnectionsAreAskedForByThemselves) {
  v1::NodeHardware news = News(1, HardwareMetric::kSmClock, 1980);
  *news.add_devices() = news.devices(0);
  news.mutable_devices(1)->set_kind(static_cast<std::uint32_t>(DeviceKind::kConnection));
  table_.Apply("n0", news);
  const auto of = table_.ConnectionsOf({"n0", "n1"});
  ASSERT_EQ(of.size(), 1u);
  ASSERT_EQ(of[0].devices.size(), 1u);
  EXPECT_EQ(of[0].devices[0].kind, DeviceKind::kConnection);
  EXPECT_EQ(of[0].newest, WallNs(kSecond));
  ASSERT_EQ(table_.Of({"n0"})[0].devices.size(), 1u);
  EXPECT_EQ(table_.Of({"n0"})[0].devices[0].kind, DeviceKind::kGpu);
}

TEST_F(HardwareTableTest, AnAgentThatMakesUpDevicesFillsNoMoreThanItsBound) {
  for (std::size_t i = 0; i < HardwareTable::kMostSeries + 20; ++i) {
    table_.Apply("n0", News(1, HardwareMetric::kSmClock, 1, "gpu" + std::to_string(i)));
  }
  EXPECT_EQ(table_.Of({"n0"})[0].devices.size(), HardwareTable::kMostSeries);
  EXPECT_EQ(table_.left_out(), 20u);
}

TEST_F(HardwareTableTest, StatesOfSourcesStandUntilTheyAreToldAgain) {
  v1::NodeHardware news = News(1, HardwareMetric::kSmClock, 1);
  auto& source = *news.add_sources();
  source.set_name("nvml");
  source.set_state("hangs");
  source.set_reason("nvmlInit does not return");
  table_.Apply("n0", news);
  table_.Apply("n0", News(2, HardwareMetric::kSmClock, 2));
  ASSERT_EQ(table_.Of({"n0"})[0].sources.size(), 1u);
  EXPECT_EQ(table_.Of({"n0"})[0].sources[0].state, "hangs");
}

}  // namespace
}  // namespace fathom::collector
