#include "collector/net/listen_probe.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace fathom::collector {
namespace {

using testing::HasSubstr;

TEST(ListenProbe, NamesThePortInUseAndTheFlag) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  socklen_t size = sizeof where;
  getsockname(fd, reinterpret_cast<sockaddr*>(&where), &size);
  const std::string address = "127.0.0.1:" + std::to_string(ntohs(where.sin_port));
  const auto status = ProbeListen(address, "HTTP", "--http");
  EXPECT_THAT(std::string(status.message()), HasSubstr(address));
  EXPECT_THAT(std::string(status.message()), HasSubstr("--http"));
  close(fd);
  EXPECT_TRUE(ProbeListen(address, "HTTP", "--http").ok());
}

TEST(ListenProbe, SaysWhatIsNoAddressOfThisMachine) {
  EXPECT_THAT(std::string(ProbeListen("203.0.113.9:80", "HTTP", "--http").message()),
              HasSubstr("203.0.113.9:80"));
  EXPECT_FALSE(ProbeListen("no such host:80", "HTTP", "--http").ok());
  EXPECT_TRUE(ProbeListen("127.0.0.1:0", "HTTP", "--http").ok());
}

TEST(HostPort, Parses) {
  HostPort where;
  ASSERT_TRUE(ParseHostPort("[::1]:80", where).ok());
  EXPECT_EQ(where.host, "::1");
  ASSERT_TRUE(ParseHostPort("node:0", where).ok());
  EXPECT_EQ(where.port, 0);
  for (const char* bad :
       {"", ":80", "a", "a:", "a:b", "a:70000", "::1:80", "[:80", "[]:80", "a:-1"}) {
    EXPECT_FALSE(ParseHostPort(bad, where).ok()) << bad;
  }
}

TEST(CheckAddress, ANameThatBeginsLikeLoopbackIsNone) {
  for (const char* near : {"127.0.0.1:1", "127.1.2.3:1", "localhost:1", "[::1]:1"}) {
    EXPECT_TRUE(CheckAddress("http", near, false, "tokens").ok()) << near;
  }
  for (const char* far : {"127.example.com:1", "localhost.example.com:1", "0.0.0.0:1", "[::]:1"}) {
    EXPECT_FALSE(CheckAddress("http", far, false, "tokens").ok()) << far;
    EXPECT_TRUE(CheckAddress("http", far, true, "tokens").ok()) << far;
  }
}

}  // namespace
}  // namespace fathom::collector
