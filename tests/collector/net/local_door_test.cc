#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "collector/net/door.h"
#include "collector/net/local_listener.h"
#include "daemon/service/agent_socket.h"

namespace fathom::collector {
namespace {

using testing::HasSubstr;

class LocalDoorTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "fathom-door-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ + "/agents.sock";
  }
  void TearDown() override {
    door_.reset();
    for (const int fd : ours_) close(fd);
    for (const int fd : taken_) close(fd);
    std::filesystem::remove_all(folder_);
  }

  void Open(bool believed, DoorLimits limits = {}) {
    auto socket = LocalListener::Open(path_, false);
    ASSERT_TRUE(socket.ok()) << socket.status();
    door_ = Door::OfSocket(
        *std::move(socket), limits,
        [believed](uid_t user) -> absl::StatusOr<std::string> {
          if (!believed) return absl::PermissionDeniedError("a stranger");
          return "user " + std::to_string(user);
        },
        [this](const std::string& why) { Note(why); },
        [this](const std::string& why) { Note(why); });
    door_->BeginOf([this](int fd, int, const std::string& who) {
      const std::lock_guard lock(mutex_);
      taken_.push_back(fd);
      who_ = who;
    });
  }
  void Note(const std::string& why) {
    const std::lock_guard lock(mutex_);
    said_ = why;
  }
  int Connect() {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    path_.copy(to.sun_path, service::kLongestSocketPath);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    ours_.push_back(fd);
    return fd;
  }
  template <typename Condition>
  bool Wait(Condition condition) {
    for (int i = 0; i < 2000; ++i) {
      {
        const std::lock_guard lock(mutex_);
        if (condition()) return true;
      }
      poll(nullptr, 0, 10);
    }
    return false;
  }
  static bool Ended(int fd) {
    pollfd end{fd, POLLIN, 0};
    char byte = 0;
    return poll(&end, 1, 20'000) == 1 && read(fd, &byte, 1) == 0;
  }

  std::string folder_, path_;
  std::mutex mutex_;  // guards the next three
  std::vector<int> taken_;
  std::string who_, said_;
  std::vector<int> ours_;
  std::unique_ptr<Door> door_;
};

TEST_F(LocalDoorTest, WhoComesIsWhoTheKernelSays) {
  Open(true);
  Connect();
  EXPECT_TRUE(Wait([&] { return who_ == "user " + std::to_string(geteuid()); }));
  EXPECT_EQ(door_->connections(), 1u);
  EXPECT_TRUE(door_->Answers(std::chrono::seconds(20)));
  EXPECT_EQ(door_->connections(), 1u) << "its own knock is no agent";
  EXPECT_EQ(taken_.size(), 1u);
}

TEST_F(LocalDoorTest, WhoIsNotBelievedIsPutOutAtOnce) {
  Open(false);
  EXPECT_TRUE(Ended(Connect()));
  EXPECT_TRUE(Wait([&] { return said_ == "a stranger" && taken_.empty(); }));
}

TEST_F(LocalDoorTest, AUserHasSoManyConnectionsAndAllAreCutTogether) {
  Open(true, {.of_one_address = 2});
  const int first = Connect(), second = Connect();
  EXPECT_TRUE(Wait([&] { return taken_.size() == 2; }));
  EXPECT_TRUE(Ended(Connect()));
  EXPECT_TRUE(Wait([&] { return said_.find("too many connections from user") == 0; }));
  door_->Cut(who_, "enough");
  EXPECT_TRUE(Ended(first));
  EXPECT_TRUE(Ended(second));
  EXPECT_EQ(said_, "enough");
  EXPECT_TRUE(Ended(Connect())) << "not let in at once";
  EXPECT_TRUE(Wait([&] { return said_ == who_ + " was cut a moment ago"; }));
  std::this_thread::sleep_for(Door::kShutFor);
  Connect();
  EXPECT_TRUE(Wait([&] { return taken_.size() == 3; })) << "but a moment later";
}

TEST_F(LocalDoorTest, TheSocketIsItsOwnersAndGoesWithIt) {
  Open(true);
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  door_->End();
  door_.reset();
  EXPECT_NE(stat(path_.c_str(), &info), 0);
}

TEST_F(LocalDoorTest, WhatIsThereIsNotTakenAway) {
  Open(true);
  EXPECT_THAT(std::string(LocalListener::Open(path_, false).status().message()),
              HasSubstr("another process listens there"));
  const std::string file = folder_ + "/file";
  std::ofstream(file) << "mine";
  EXPECT_THAT(std::string(LocalListener::Open(file, false).status().message()),
              HasSubstr("it is no socket"));
  EXPECT_TRUE(std::filesystem::is_regular_file(file));
}

}  // namespace
}  // namespace fathom::collector
