// Peers that send their request slowly, or not at all, keep nobody else out.
#include "collector/http/listener.h"

#include <arpa/inet.h>
#include <civetweb.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace fathom::collector {
namespace {

constexpr std::size_t kThreads = 8;

class Socket {
 public:
  explicit Socket(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{30, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  void Send(const std::string& text) {
    EXPECT_EQ(send(fd_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  std::string Receive() {
    char buffer[4096];
    const ssize_t got = recv(fd_, buffer, sizeof buffer, 0);
    return got > 0 ? std::string(buffer, static_cast<std::size_t>(got)) : "";
  }

 private:
  int fd_;
};

class ListenerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = Listener::Start(
        "127.0.0.1:0", {}, kThreads, {{"connection_queue", "64"}},
        [this](const Listener&, mg_connection* connection, const std::string& body) {
          const std::string path = mg_get_request_info(connection)->local_uri_raw;
          while (path == "/long" && !release_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
          }
          const std::string text = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " +
                                   std::to_string(body.size() + 2) + "\r\n\r\nok" + body;
          mg_write(connection, text.data(), text.size());
        });
    ASSERT_TRUE(started.ok()) << started.status();
    listener_ = *std::move(started);
  }

  std::string Ask(const std::string& text) {
    Socket socket(listener_->port());
    socket.Send(text);
    return socket.Receive();
  }

  std::vector<Socket> Crowd(const std::string& text) {
    std::vector<Socket> crowd;
    for (int i = 0; i < 60; ++i) {
      crowd.emplace_back(listener_->port());
      if (!text.empty()) crowd.back().Send(text);
    }
    return crowd;
  }

  std::atomic<bool> release_{false};
  std::unique_ptr<Listener> listener_;
};

// Each of them would hold a thread for ten seconds: sixty hold eight threads for over a minute,
// which is longer than Receive waits.
TEST_F(ListenerTest, AnswersWhileACrowdSendsHalfARequest) {
  const auto crowd = Crowd("GET / HT");
  EXPECT_NE(Ask("GET / HTTP/1.0\r\n\r\n").find("200 OK"), std::string::npos);
}

TEST_F(ListenerTest, AnswersWhileACrowdSendsNothing) {
  const auto crowd = Crowd("");
  EXPECT_NE(Ask("POST / HTTP/1.0\r\nContent-Length: 4\r\n\r\nbody").find("okbody"),
            std::string::npos);
}

TEST_F(ListenerTest, AnswersWhileACrowdSendsHalfABody) {
  const auto crowd = Crowd("POST / HTTP/1.0\r\nContent-Length: 400\r\n\r\nhalf");
  EXPECT_NE(Ask("GET / HTTP/1.0\r\n\r\n").find("200 OK"), std::string::npos);
}

TEST_F(ListenerTest, AnAnswerUnderWayIsNotDisturbed) {
  Socket patient(listener_->port());
  patient.Send("GET /long HTTP/1.0\r\n\r\n");
  const auto crowd = Crowd("GET / HT");
  EXPECT_NE(Ask("GET / HTTP/1.0\r\n\r\n").find("200 OK"), std::string::npos);
  release_ = true;
  EXPECT_NE(patient.Receive().find("200 OK"), std::string::npos);
}

}  // namespace
}  // namespace fathom::collector
