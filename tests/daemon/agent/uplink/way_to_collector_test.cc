#include "daemon/agent/uplink/way_to_collector.h"

#include <gtest/gtest.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "daemon/service/agent_socket.h"

namespace fathom::agent {
namespace {

// A person's folder of sockets; root looks in none of those.
class WayToCollectorTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "fathom-way-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    if (fd_ >= 0) close(fd_);
    std::filesystem::remove_all(folder_);
  }
  void Listen(const std::string& path) {
    sockaddr_un own{};
    own.sun_family = AF_UNIX;
    path.copy(own.sun_path, service::kLongestSocketPath);
    fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
    ASSERT_EQ(listen(fd_, 8), 0);
  }

  std::string folder_;
  int fd_ = -1;
};

TEST_F(WayToCollectorTest, ASocketThatIsNamedMustAnswer) {
  const std::string target = "unix:" + folder_ + "/agents.sock";
  EXPECT_EQ(WayToCollector(target, false).status().code(), absl::StatusCode::kNotFound);
  Listen(folder_ + "/agents.sock");
  ASSERT_TRUE(WayToCollector(target, false).ok());
  EXPECT_EQ(*WayToCollector(target, false), target);
}

TEST_F(WayToCollectorTest, OverTheNetworkItIsAsTold) {
  for (const char* target : {"collector.example:7071", "10.0.0.5:7071", "127.0.0.1:9"}) {
    EXPECT_EQ(WayToCollector(target, false).value_or(""), target);
  }
}

TEST_F(WayToCollectorTest, OnLoopbackTheSocketBesideThePortIsPreferredButNotWithTls) {
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(chown(folder_.c_str(), 65534, 65534), 0);
    ASSERT_EQ(setresuid(65534, 65534, 0), 0);
  }
  setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
  ASSERT_TRUE(std::filesystem::create_directory(folder_ + "/fathom"));
  const std::string path = folder_ + "/fathom/" + service::AgentSocketName(7071);
  EXPECT_EQ(WayToCollector("127.0.0.1:7071", false).value_or(""), "127.0.0.1:7071");
  Listen(path);
  EXPECT_EQ(WayToCollector("127.0.0.1:7071", false).value_or(""), "unix:" + path);
  EXPECT_EQ(WayToCollector("localhost:7071", false).value_or(""), "unix:" + path);
  EXPECT_EQ(WayToCollector("127.0.0.1:7072", false).value_or(""), "127.0.0.1:7072");
  EXPECT_EQ(WayToCollector("127.0.0.1:7071", true).value_or(""), "127.0.0.1:7071");
  if (root) {
    ASSERT_EQ(setresuid(0, 0, 0), 0);
  }
}

}  // namespace
}  // namespace fathom::agent
