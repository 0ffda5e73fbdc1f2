// Real connections of this process on loopback, as the kernel shows them; and who is asked for
// them.
#include "daemon/agent/source/socket/tcp_sockets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "daemon/agent/session/socket_watch.h"
#include "tests/fakes/loopback_connection.h"

namespace fathom::agent {
namespace {

using ::testing::IsEmpty;

using Connection = fakes::LoopbackConnection;

std::optional<TcpSocket> Find(const std::string& local, const std::string& peer) {
  const auto all = EstablishedSockets();
  if (!all.ok()) return std::nullopt;
  for (const TcpSocket& socket : *all) {
    if ((local.empty() || socket.local == local) && (peer.empty() || socket.peer == peer)) {
      return socket;
    }
  }
  return std::nullopt;
}

class TcpSocketsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto all = EstablishedSockets(); !all.ok()) GTEST_SKIP() << all.status();
  }
};

TEST_F(TcpSocketsTest, BothEndsNameEachOtherAndBelongToTheProcess) {
  const Connection connection;
  const auto sender = Find("", connection.to);
  ASSERT_TRUE(sender.has_value());
  const auto receiver = Find(connection.to, sender->local);
  ASSERT_TRUE(receiver.has_value());
  EXPECT_EQ(sender->backoff, 0u);
  const auto mine = SocketsOf(KernelRoots(), static_cast<std::uint32_t>(getpid()));
  ASSERT_TRUE(mine.ok());
  EXPECT_TRUE(mine->contains(sender->inode));
  EXPECT_TRUE(mine->contains(receiver->inode));
}

TEST_F(TcpSocketsTest, AReceiverThatDoesNotReadLeavesBytesAtBothEndsAndTheTimerDoubles) {
  const Connection connection;
  connection.Fill();
  std::optional<TcpSocket> sender;
  for (int i = 0; i < 300 && (!sender || sender->backoff < 2); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    sender = Find("", connection.to);
  }
  ASSERT_TRUE(sender.has_value());
  EXPECT_GE(sender->backoff, 2u);
  EXPECT_GT(sender->queued, 0u);
  EXPECT_GT(Find(connection.to, sender->local)->unread, 0u);
}

TEST_F(TcpSocketsTest, CountsWhatTheOtherEndConfirmedAndNotTheTimeInWhichItDidNotRead) {
  const Connection connection;
  connection.Send(1 << 20);
  const auto sent = Find("", connection.to);
  ASSERT_TRUE(sent.has_value());
  EXPECT_NEAR(static_cast<double>(sent->confirmed), 1 << 20, 1 << 16);
  EXPECT_EQ(Find(connection.to, sent->local)->confirmed, 0u);
  connection.Fill();
  const auto full = Find("", connection.to);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto later = Find("", connection.to);
  ASSERT_TRUE(full && later);
  EXPECT_LT((later->sending - full->sending).count, 250'000'000);
}

TEST_F(TcpSocketsTest, OneConnectionIsAskedForByItselfUntilItIsClosed) {
  std::optional<TcpSocket> found;
  const auto table = SocketTable::Own();
  ASSERT_TRUE(table.ok());
  {
    const Connection connection;
    found = Find("", connection.to);
    ASSERT_TRUE(found.has_value());
    ASSERT_EQ(write(connection.sender, "four", 4), 4);
    const auto now = table->Now(*found);
    ASSERT_TRUE(now.ok()) << now.status();
    EXPECT_EQ(now->inode, found->inode);
    EXPECT_EQ(now->local, found->local);
    EXPECT_NEAR(static_cast<double>(now->confirmed), 4, 1) << "its first packet may count";
  }
  EXPECT_TRUE(absl::IsNotFound(table->Now(*found).status())) << table->Now(*found).status();
}

TEST_F(TcpSocketsTest, TheTableOfAProcessIsThatOfItsNetworkNamespace) {
  const Connection connection;
  const auto table = SocketTable::Of(KernelRoots(), static_cast<std::uint32_t>(getpid()));
  if (absl::IsPermissionDenied(table.status())) GTEST_SKIP() << table.status();
  ASSERT_TRUE(table.ok()) << table.status();
  const auto sockets = table->Established();
  ASSERT_TRUE(sockets.ok());
  EXPECT_TRUE(std::any_of(sockets->begin(), sockets->end(),
                          [&](const TcpSocket& socket) { return socket.peer == connection.to; }));
  EXPECT_TRUE(absl::IsNotFound(SocketTable::Of(KernelRoots(), 1u << 22).status()));
}

TEST_F(TcpSocketsTest, AProcessThatIsGoneHasNone) {
  EXPECT_TRUE(absl::IsNotFound(SocketsOf(KernelRoots(), 1u << 22).status()));
}

v1::RankHealth StuckFor(std::int64_t ns) {
  v1::RankHealth health;
  health.add_open_ops()->set_age_ns(ns);
  return health;
}

TEST(SocketWatchTest, OnlyRanksThatAreStuckInAnOpAreLookedAtAndTheyShareADump) {
  const Connection connection;
  int dumps = 0;
  SocketWatch watch({}, [&] {
    ++dumps;
    return EstablishedSockets();
  });
  const auto self = static_cast<std::uint32_t>(getpid());
  v1::RankHealth flowing = StuckFor(SocketWatch::kStuckNs - 1);
  watch.Look(self, 0, flowing);
  EXPECT_THAT(flowing.sockets(), IsEmpty());
  EXPECT_EQ(dumps, 0);
  v1::RankHealth first = StuckFor(SocketWatch::kStuckNs), second = first;
  watch.Look(self, 0, first);
  watch.Look(self, 1, second);
  EXPECT_EQ(dumps, 1);
  EXPECT_GE(first.sockets_size(), 2);
  EXPECT_EQ(first.sockets_size(), second.sockets_size());
}

TEST(SocketWatchTest, AKernelThatRefusesIsNotAskedAgain) {
  int dumps = 0;
  SocketWatch watch({}, [&]() -> absl::StatusOr<std::vector<TcpSocket>> {
    ++dumps;
    return absl::PermissionDeniedError("no");
  });
  for (int i = 0; i < 3; ++i) {
    v1::RankHealth health = StuckFor(SocketWatch::kStuckNs);
    watch.Look(1, i * SocketWatch::kEveryNs, health);
    EXPECT_THAT(health.sockets(), IsEmpty());
  }
  EXPECT_EQ(dumps, 1);
}

}  // namespace
}  // namespace fathom::agent
