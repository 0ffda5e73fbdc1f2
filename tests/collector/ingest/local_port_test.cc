// The unix socket of agents: whoever cannot be served is told so, and counts no more.
#include "collector/ingest/local_port.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>

#include "collector/ingest/agent_stream.h"
#include "daemon/service/agent_socket.h"
#include "tests/collector/fake_clock.h"

namespace fathom::collector {
namespace {

class LocalPortTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "fathom-port-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    port_.reset();
    for (const int fd : ours_) close(fd);
    std::filesystem::remove_all(folder_);
  }

  void Open(std::size_t users, std::size_t connections) {
    auto port = LocalPort::Open(folder_ + "/agents.sock",
                                {.context = context_,
                                 .streams = streams_,
                                 .next_id = next_id_,
                                 .agents = *LocalAgents::Parse(""),
                                 .version = "1",
                                 .max_streams = 10,
                                 .max_connections = connections,
                                 .refused = [this](const auto& why) { Note(why); },
                                 .cut = [this](const auto& why) { Note(why); },
                                 .began = [] {},
                                 .max_users = users});
    ASSERT_TRUE(port.ok()) << port.status();
    port_ = *std::move(port);
  }
  void Note(const std::string& why) {
    const std::lock_guard lock(mutex_);
    said_ = why;
  }
  std::string said() {
    const std::lock_guard lock(mutex_);
    return said_;
  }
  int Connect() {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    port_->path().copy(to.sun_path, service::kLongestSocketPath);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    ours_.push_back(fd);
    return fd;
  }
  static bool Ended(int fd) {
    pollfd end{fd, POLLIN, 0};
    char byte = 0;
    return poll(&end, 1, 20'000) == 1 && read(fd, &byte, 1) == 0;
  }

  FakeClock clock_;
  JobTable jobs_{clock_, {4, 100}};
  SessionRegistry registry_{clock_};
  IngestCounters counters_;
  RowRequests requests_{registry_, counters_, clock_};
  IngestContext context_{jobs_, registry_, requests_, counters_, [](const std::string&) {}};
  AgentStreams streams_{1'000};
  std::atomic<std::uint64_t> next_id_{1};
  std::string folder_;
  std::mutex mutex_;  // guards the next
  std::string said_;
  std::vector<int> ours_;
  std::unique_ptr<LocalPort> port_;
};

TEST_F(LocalPortTest, WhoHasNoServerIsPutOutAndCountsNoMore) {
  Open(0, 1);
  // There is one place: while the one before still has it, the door gives another reason.
  int unserved = 0;
  for (int i = 0; i < 500 && unserved < 3; ++i) {
    ASSERT_TRUE(Ended(Connect())) << "connection " << i;
    unserved += said().find("no server could be made for user") == 0 ? 1 : 0;
  }
  EXPECT_EQ(unserved, 3) << said();
}

}  // namespace
}  // namespace fathom::collector
