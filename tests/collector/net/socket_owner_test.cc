#include "collector/net/socket_owner.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collector/net/peer.h"

namespace fathom::collector {
namespace {

constexpr uid_t kPassingUser = 4321;

// A listener of this process, and connections to it.
struct SocketOwnerTest : testing::Test {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  TcpEnd server;

  void SetUp() override {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
    ASSERT_EQ(listen(listener, 8), 0);
    server = OwnEndOf(listener);
  }
  void TearDown() override { close(listener); }

  static TcpEnd OwnEndOf(int fd) {
    sockaddr_in own{};
    socklen_t length = sizeof own;
    getsockname(fd, reinterpret_cast<sockaddr*>(&own), &length);
    return {"127.0.0.1", ntohs(own.sin_port)};
  }
  int Connect() const {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(server.port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    return fd;
  }
};

TEST_F(SocketOwnerTest, TellsTheUserOfTheOtherEnd) {
  const int fd = Connect();
  EXPECT_EQ(SocketOwner(OwnEndOf(fd), server), geteuid());
  close(fd);
}

TEST_F(SocketOwnerTest, TellsAStranger) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can connect as another user";
  ASSERT_EQ(seteuid(kPassingUser), 0);
  const int fd = Connect();
  ASSERT_EQ(seteuid(0), 0);
  const TcpEnd own = OwnEndOf(fd);
  EXPECT_EQ(SocketOwner(own, server), kPassingUser);
  EXPECT_EQ(LoopbackOwner({own.address, own.port, server.port, server.address}), kPassingUser);
  close(fd);
}

TEST_F(SocketOwnerTest, OfNoConnectionNothing) {
  const int fd = Connect();
  const TcpEnd own = OwnEndOf(fd);
  EXPECT_EQ(SocketOwner(own, {server.address, server.port + 1}), std::nullopt);
  EXPECT_EQ(SocketOwner(own, {"127.0.0.2", server.port}), std::nullopt);
  EXPECT_EQ(SocketOwner(own, {"::1", server.port}), std::nullopt);
  EXPECT_EQ(SocketOwner({"no address", own.port}, server), std::nullopt);
  // Nobody is connected from there; the kernel knows a socket that listens.
  EXPECT_EQ(SocketOwner(server, {"127.0.0.1", 1}), std::nullopt);
  close(fd);
}

TEST_F(SocketOwnerTest, OfOneThatHasEndedNothing) {
  const int fd = Connect();
  const TcpEnd own = OwnEndOf(fd);
  close(fd);
  EXPECT_EQ(SocketOwner(own, server), std::nullopt);
}

}  // namespace
}  // namespace fathom::collector
