#include "collector/net/door.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <vector>

namespace fathom::collector {
namespace {

using testing::HasSubstr;

// What a door lets in stays open until the test ends.
class DoorTest : public testing::Test {
 protected:
  void TearDown() override {
    door_.reset();
    for (const int fd : ours_) close(fd);
    for (const int fd : taken_) close(fd);
  }

  void Open(DoorLimits limits, const std::string& address = "127.0.0.1:0") {
    const auto note = [this](std::string& last, std::atomic<int>& count) {
      return [this, &last, &count](const std::string& why) {
        const std::lock_guard lock(mutex_);
        last = why;
        ++count;
      };
    };
    auto door = Door::Open(address, limits, note(why_refused_, refused_), note(why_cut_, cut_));
    ASSERT_TRUE(door.ok()) << door.status();
    door_ = *std::move(door);
    door_->Begin([this](int fd, int) {
      const std::lock_guard lock(mutex_);
      taken_.push_back(fd);
      ++let_in_;
    });
  }

  // The port of our end. `host`: the last number of the address that is reached; `from`: our port.
  int Connect(std::uint32_t host = 1, int from = 0) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(door_->port()));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + host);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (from != 0) {
      const int on = 1;
      setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
      sockaddr_in ours{};
      ours.sin_family = AF_INET;
      ours.sin_port = htons(static_cast<std::uint16_t>(from));
      ours.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&ours), sizeof ours), 0);
    }
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    ours_.push_back(fd);
    sockaddr_in own{};
    socklen_t length = sizeof own;
    getsockname(fd, reinterpret_cast<sockaddr*>(&own), &length);
    return ntohs(own.sin_port);
  }

  template <typename Condition>
  static bool Wait(Condition condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) poll(nullptr, 0, 10);
    return condition();
  }

  std::mutex mutex_;  // guards the reasons and taken_
  std::string why_refused_, why_cut_;
  std::vector<int> taken_, ours_;
  std::atomic<int> refused_{0}, cut_{0}, let_in_{0};
  std::unique_ptr<Door> door_;
};

TEST_F(DoorTest, AConnectionCountsUntilItEnds) {
  Open({});
  Connect();
  EXPECT_TRUE(Wait([&] { return let_in_ == 1; }));
  EXPECT_EQ(door_->connections(), 1u);
  close(ours_.back());
  ours_.pop_back();
  EXPECT_TRUE(Wait([&] { return door_->connections() == 0; }));
}

TEST_F(DoorTest, WhatIsBeyondTheBoundIsClosedAtOnce) {
  Open({.connections = 2});
  for (int i = 0; i < 5; ++i) Connect();
  EXPECT_TRUE(Wait([&] { return refused_ == 3; }));
  EXPECT_THAT(why_refused_, HasSubstr("too many connections"));
  char byte = 0;
  EXPECT_EQ(read(ours_.back(), &byte, 1), 0);
  EXPECT_TRUE(door_->Answers(std::chrono::seconds(20))) << "the door's own does not count";
}

TEST_F(DoorTest, TooManyStreamsCostTheirConnection) {
  Open({.streams = 3});
  const int rude = Connect(), other = Connect();
  ASSERT_TRUE(Wait([&] { return let_in_ == 2; }));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(door_->MayStream({"127.0.0.1", rude, 0}));
  EXPECT_FALSE(door_->MayStream({"127.0.0.1", rude, 0}));
  EXPECT_TRUE(door_->MayStream({"127.0.0.1", other, 0}));
  EXPECT_EQ(cut_, 1);
  char byte = 0;
  EXPECT_EQ(read(ours_.front(), &byte, 1), 0);
  EXPECT_TRUE(Wait([&] { return door_->connections() == 1; }));
}

// Else what comes in on one could be taken for the other's, which may be of another user.
TEST_F(DoorTest, ASecondConnectionFromAPortIsRefusedUntilTheFirstHasEnded) {
  Open({}, "0.0.0.0:0");
  constexpr int kPort = 23'457;  // below those that the kernel gives out
  Connect(1, kPort);
  ASSERT_TRUE(Wait([&] { return let_in_ == 1; }));
  const Door::Entrance first = door_->EntranceOf({"127.0.0.1", kPort});
  EXPECT_EQ(first.server_address, "127.0.0.1");
  Connect(5, kPort);
  EXPECT_TRUE(Wait([&] { return refused_ == 1; }));
  EXPECT_THAT(why_refused_, HasSubstr("from that port"));
  EXPECT_EQ(door_->EntranceOf({"127.0.0.1", kPort}).serial, first.serial);
  close(ours_.front());
  ours_.erase(ours_.begin());
  Connect(6, kPort);
  EXPECT_TRUE(Wait([&] { return let_in_ == 2; }));
  EXPECT_EQ(door_->EntranceOf({"127.0.0.1", kPort}).server_address, "127.0.0.6");
}

TEST_F(DoorTest, WithoutDescriptorsItSaysNoAndGoesOnAfterwards) {
  Open({});
  Connect();
  ASSERT_TRUE(Wait([&] { return let_in_ == 1; }));
  const int waiting = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit none{static_cast<rlim_t>(waiting + 1), files.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(door_->port()));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(waiting, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  EXPECT_TRUE(Wait([&] { return refused_ == 1; }));
  EXPECT_THAT(why_refused_, HasSubstr("no descriptor"));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  close(waiting);
  Connect();
  EXPECT_TRUE(Wait([&] { return let_in_ == 2; }));
}

}  // namespace
}  // namespace fathom::collector
