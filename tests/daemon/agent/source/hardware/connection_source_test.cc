// Real connections of this process on loopback, told as those of a traced process.
#include "daemon/agent/source/hardware/connection_source.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace fathom::agent {
namespace {

constexpr std::int64_t kOneSecond = 1'000'000'000;

// Two ends of one connection, both of this process.
class Pair {
 public:
  Pair() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener, 1), 0);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    sender_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(sender_, reinterpret_cast<sockaddr*>(&address), size), 0);
    receiver_ = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    close(listener);
    const std::string receiver = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
    getsockname(sender_, reinterpret_cast<sockaddr*>(&address), &size);
    ends_ = absl::StrCat("127.0.0.1:", ntohs(address.sin_port), " ", receiver);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() {
    close(sender_);
    close(receiver_);
  }

  void Send(std::size_t bytes) const {
    std::string block(1 << 12, 'x');
    for (std::size_t sent = 0; sent < bytes; sent += block.size()) {
      ASSERT_EQ(write(sender_, block.data(), block.size()), static_cast<ssize_t>(block.size()));
      ASSERT_EQ(recv(receiver_, block.data(), block.size(), MSG_WAITALL),
                static_cast<ssize_t>(block.size()));
    }
  }
  std::string DeviceOf(std::uint32_t pid) const { return absl::StrCat(pid, " ", ends_); }

 private:
  int sender_ = -1, receiver_ = -1;
  std::string ends_;
};

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
  EXPECT_FALSE(Sample().contains(pair.DeviceOf(own_))) << "it has sent nothing";
  pair.Send(ConnectionSource::kWorthTelling - (1 << 13));
  EXPECT_FALSE(Sample().contains(pair.DeviceOf(own_)));
  pair.Send(1 << 20);
  const auto told = Sample();
  ASSERT_TRUE(told.contains(pair.DeviceOf(own_)));
  EXPECT_GE(told.at(pair.DeviceOf(own_)), 1 << 20);
  EXPECT_EQ(told.size(), 2u) << "and the other end, which has sent nothing";
  EXPECT_FALSE(Sample().contains(pair.DeviceOf(own_))) << "nothing since";
}

TEST_F(ConnectionSourceTest, ConnectionsThatComeLaterAreFoundAtTheNextLookUp) {
  Sample();
  const Pair first;
  first.Send(1 << 20);
  EXPECT_TRUE(Sample().contains(first.DeviceOf(own_))) << "a young process is looked up always";
  const Pair second;
  second.Send(1 << 20);
  EXPECT_FALSE(Sample().contains(second.DeviceOf(own_)));
  now_ = now_ + Nanos(ConnectionSource::kLookUpNs);
  EXPECT_TRUE(Sample().contains(second.DeviceOf(own_)));
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
  for (std::size_t i = 0; i < 4; ++i) EXPECT_FALSE(told.contains(pairs[i]->DeviceOf(own_)));
}

}  // namespace
}  // namespace fathom::agent
