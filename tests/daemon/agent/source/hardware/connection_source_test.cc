// Real connections of this process on loopback, told as those of a traced process.
#include "daemon/agent/source/hardware/connection_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/fakes/loopback_connection.h"

namespace fathom::agent {
namespace {

constexpr std::int64_t kOneSecond = 1'000'000'000;

using Pair = fakes::LoopbackConnection;

std::string DeviceOf(std::uint32_t pid, const Pair& pair) {
  return absl::StrCat(pid, " ", pair.from, " ", pair.to);
}

class ConnectionSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto all = EstablishedSockets(); !all.ok()) GTEST_SKIP() << all.status();
  }
  // Bytes that each connection is told to have sent.
  std::map<std::string, double> Sample() {
    std::vector<Reading> readings;
    EXPECT_TRUE(source_.Sample(doing_, readings).ok());
    std::map<std::string, double> confirmed;
    for (const Reading& reading : readings) {
      EXPECT_EQ(reading.kind, DeviceKind::kConnection);
      if (reading.metric == HardwareMetric::kConfirmedBytes) {
        confirmed[reading.device] = reading.value;
      } else {
        EXPECT_EQ(reading.metric, HardwareMetric::kSendingTime);
        EXPECT_GE(reading.value, 0);
      }
    }
    return confirmed;
  }

  const std::uint32_t own_ = static_cast<std::uint32_t>(getpid());
  std::set<std::uint32_t> traced_ = {own_};
  MonoNs now_{kOneSecond};
  CallInProgress doing_{[this] { return now_; }};
  ConnectionSource source_{KernelRoots(), [this] { return traced_; }, [this] { return now_; }};
};

TEST_F(ConnectionSourceTest, TellsWhatATracedProcessSentOnceItIsWorthIt) {
  const Pair pair;
  EXPECT_FALSE(Sample().contains(DeviceOf(own_, pair))) << "it has sent nothing";
  pair.Send(ConnectionSource::kWorthTelling - (1 << 13));
  EXPECT_FALSE(Sample().contains(DeviceOf(own_, pair)));
  pair.Send(1 << 20);
  const auto told = Sample();
  ASSERT_TRUE(told.contains(DeviceOf(own_, pair)));
  EXPECT_GE(told.at(DeviceOf(own_, pair)), 1 << 20);
  EXPECT_EQ(told.size(), 2u) << "and the other end, which has sent nothing";
  EXPECT_FALSE(Sample().contains(DeviceOf(own_, pair))) << "nothing since";
}

TEST_F(ConnectionSourceTest, ConnectionsThatComeLaterAreFoundAtTheNextLookUp) {
  Sample();
  const Pair first;
  first.Send(1 << 20);
  EXPECT_TRUE(Sample().contains(DeviceOf(own_, first))) << "a young process is looked up always";
  const Pair second;
  second.Send(1 << 20);
  EXPECT_FALSE(Sample().contains(DeviceOf(own_, second)));
  now_ = now_ + Nanos(ConnectionSource::kLookUpNs);
  EXPECT_TRUE(Sample().contains(DeviceOf(own_, second)));
}

TEST_F(ConnectionSourceTest, WhoIsNotTracedOrIsGoneHasNone) {
  const Pair pair;
  pair.Send(1 << 20);
  traced_ = {};
  EXPECT_TRUE(Sample().empty());
  traced_ = {1u << 22};
  EXPECT_TRUE(Sample().empty());
}

TEST_F(ConnectionSourceTest, OfManyTheBusiestAreTold) {
  std::vector<std::unique_ptr<Pair>> pairs;
  for (std::size_t i = 0; i < ConnectionSource::kMostOfANode / 2 + 4; ++i) {
    pairs.push_back(std::make_unique<Pair>());
    pairs.back()->Send(i < 4 ? 1 << 17 : 1 << 18);
  }
  const auto told = Sample();
  EXPECT_EQ(told.size(), ConnectionSource::kMostOfANode) << "both ends of each";
  for (std::size_t i = 0; i < 4; ++i) EXPECT_FALSE(told.contains(DeviceOf(own_, *pairs[i])));
}

}  // namespace
}  // namespace fathom::agent
