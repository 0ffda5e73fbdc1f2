#include "daemon/service/agent_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace fathom::service {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

// A folder of our own with a socket in it on which we listen.
class AgentSocketTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "fathom-socket-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ + "/agents.sock";
  }
  void TearDown() override {
    if (fd_ >= 0) close(fd_);
    std::filesystem::remove_all(folder_);
  }
  void Bind(bool listens) {
    sockaddr_un own{};
    own.sun_family = AF_UNIX;
    path_.copy(own.sun_path, kLongestSocketPath);
    fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
    if (listens) {
      ASSERT_EQ(listen(fd_, 8), 0);
    }
  }

  std::string folder_, path_;
  int fd_ = -1;
};

TEST_F(AgentSocketTest, TheKernelSaysWhoListensAndWhoCame) {
  Bind(true);
  EXPECT_TRUE(CheckAgentSocket(path_).ok()) << CheckAgentSocket(path_);
  const int came = accept(fd_, nullptr, nullptr);
  const auto peer = PeerOfSocket(came);
  close(came);
  ASSERT_TRUE(peer.ok()) << peer.status();
  EXPECT_EQ(peer->user, geteuid());
  EXPECT_EQ(peer->process, getpid());
}

TEST_F(AgentSocketTest, NobodyListensOrThereIsNone) {
  EXPECT_EQ(CheckAgentSocket(path_).code(), absl::StatusCode::kNotFound);
  Bind(false);
  EXPECT_EQ(CheckAgentSocket(path_).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(CheckAgentSocket(folder_).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(CheckAgentSocket(std::string(200, 'x')).code(), absl::StatusCode::kNotFound);
}

TEST_F(AgentSocketTest, AFolderInWhichOthersMayPutASocketIsNotBelieved) {
  Bind(true);
  for (const mode_t mode : {0777, 01777, 0770}) {
    ASSERT_EQ(chmod(folder_.c_str(), mode), 0);
    EXPECT_EQ(CheckAgentSocket(path_).code(), absl::StatusCode::kPermissionDenied) << mode;
  }
}

TEST_F(AgentSocketTest, NorOneOfAnotherUserThanWhoListens) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  Bind(true);
  ASSERT_EQ(chown(folder_.c_str(), 4321, 4321), 0);
  const absl::Status status = CheckAgentSocket(path_);
  EXPECT_THAT(std::string(status.message()), HasSubstr("belongs to user 4321"));
  EXPECT_TRUE(CheckSocketFolder(folder_, 4321).ok());
  const std::string link = folder_ + "-link";
  ASSERT_EQ(symlink(folder_.c_str(), link.c_str()), 0);
  EXPECT_FALSE(CheckSocketFolder(link, 4321).ok()) << "a link may be turned to elsewhere";
  unlink(link.c_str());
}

TEST(AgentSocketNameTest, TheNameIsThePortsAndTheNamespaces) {
  EXPECT_THAT(AgentSocketName(7071), EndsWith("-7071.sock"));
  EXPECT_NE(AgentSocketName(7071), AgentSocketName(7072));
  EXPECT_EQ(AgentSocketName(7071), AgentSocketName(7071));
}

TEST(AgentSocketNameTest, AServiceManagerSaysWhereTheSocketGoes) {
  setenv("RUNTIME_DIRECTORY", "/run/one:/run/two", 1);
  EXPECT_EQ(AgentSocketFolder(), "/run/one");
  unsetenv("RUNTIME_DIRECTORY");
  EXPECT_EQ(AgentSocketFolders().back(), "/run/fathom");
}

}  // namespace
}  // namespace fathom::service
