#include "collector/net/local_agents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fathom::collector {
namespace {

using ::testing::HasSubstr;

constexpr uid_t kStranger = 4321;

// A /proc/net in which port 40000 of this machine is connected to port 7071 by one user.
struct LocalAgentsTest : testing::Test {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("fathom_proc_net_" + std::to_string(::getpid()));
  const Peer peer{"127.0.0.1", 40000, 7071};

  void SetUp() override { std::filesystem::create_directory(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
  void ConnectedBy(uid_t user) {
    std::ofstream(folder / "tcp") << "  sl  local_address rem_address   st tx_queue rx_queue tr\n"
                                  << "   0: 0100007F:9C40 0100007F:1B9F 01 00000000:00000000 "
                                     "00:00000000 00000000 "
                                  << user << " 0 1234\n";
  }
  absl::Status Check(const std::string& users) {
    const auto agents = LocalAgents::Parse(users);
    return agents.ok() ? agents->Check(peer, folder.string()).status() : agents.status();
  }
};

TEST_F(LocalAgentsTest, RootAndTheCollectorsOwnUserAreBelieved) {
  for (const uid_t user : {uid_t{0}, geteuid()}) {
    ConnectedBy(user);
    EXPECT_TRUE(Check("").ok()) << user;
  }
}

// As clients of gRPC connect: by a socket of IPv6 to an address of IPv4.
TEST_F(LocalAgentsTest, ASocketOfIpv6ToAnAddressOfIpv4IsFound) {
  std::ofstream(folder / "tcp6") << "head\n   0: 0000000000000000FFFF00000100007F:9C40 "
                                    "0000000000000000FFFF00000100007F:1B9F 01 00000000:00000000 "
                                    "00:00000000 00000000 0 0 1234\n";
  EXPECT_TRUE(Check("").ok());
}

TEST_F(LocalAgentsTest, AnotherUserIsNotUnlessNamed) {
  ConnectedBy(kStranger);
  const absl::Status refused = Check("");
  EXPECT_EQ(refused.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("agent_users"));
  EXPECT_TRUE(Check("root, 4321").ok());
  EXPECT_TRUE(Check("*").ok());
}

TEST_F(LocalAgentsTest, WhoCannotBeToldIsNotBelieved) {
  EXPECT_EQ(Check("").code(), absl::StatusCode::kPermissionDenied);
  EXPECT_TRUE(Check("*").ok());
}

TEST_F(LocalAgentsTest, OtherMachinesAreJudgedElsewhere) {
  const auto agents = LocalAgents::Parse("");
  EXPECT_TRUE(agents->Check({"10.1.2.3", 40000, 7071}, folder.string()).ok());
}

TEST_F(LocalAgentsTest, AUserThatDoesNotExistIsAnError) {
  EXPECT_THAT(std::string(LocalAgents::Parse("no-such-user").status().message()),
              HasSubstr("no-such-user"));
}

TEST(PeerOfGrpcTest, ReadsWhatGrpcPrints) {
  const Peer v4 = PeerOfGrpc("ipv4:127.0.0.1:4711", 7071);
  EXPECT_EQ(v4.address, "127.0.0.1");
  EXPECT_EQ(v4.port, 4711);
  EXPECT_EQ(v4.server_port, 7071);
  const Peer v6 = PeerOfGrpc("ipv6:%5B::1%5D:4711", 7071);
  EXPECT_EQ(v6.address, "::1");
  EXPECT_EQ(v6.port, 4711);
  EXPECT_EQ(PeerOfGrpc("unix:/run/x", 7071).address, "");
  EXPECT_EQ(PeerOfGrpc("", 7071).address, "");
}

}  // namespace
}  // namespace fathom::collector
