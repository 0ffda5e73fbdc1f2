// A real TCP connection on loopback, both of whose ends belong to this process.
//
// Used by tests of what the agent reads of connections. Thread-safety: none. Ownership: owns both
// descriptors. Errors: fail the test.
#ifndef FATHOM_TESTS_FAKES_LOOPBACK_CONNECTION_H_
#define FATHOM_TESTS_FAKES_LOOPBACK_CONNECTION_H_

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>

namespace fathom::fakes {

class LoopbackConnection {
 public:
  LoopbackConnection() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener, 1), 0);
    socklen_t size = sizeof(address);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    sender = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(sender, reinterpret_cast<sockaddr*>(&address), size), 0);
    receiver = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    close(listener);
    to = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    getsockname(sender, reinterpret_cast<sockaddr*>(&address), &size);
    from = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  LoopbackConnection(const LoopbackConnection&) = delete;
  LoopbackConnection& operator=(const LoopbackConnection&) = delete;
  ~LoopbackConnection() {
    close(sender);
    close(receiver);
  }

  // Until the receiver, which reads nothing, has no room.
  void Fill() const {
    fcntl(sender, F_SETFL, O_NONBLOCK);
    const std::string block(1 << 16, 'x');
    for (int pause = 0; pause < 5;) {
      if (write(sender, block.data(), block.size()) > 0) continue;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      ++pause;
    }
  }

  // And the receiver reads them. Requires: a multiple of 4 KiB.
  void Send(std::size_t bytes) const {
    std::string block(1 << 12, 'x');
    for (std::size_t sent = 0; sent < bytes; sent += block.size()) {
      ASSERT_EQ(write(sender, block.data(), block.size()), static_cast<ssize_t>(block.size()));
      ASSERT_EQ(recv(receiver, block.data(), block.size(), MSG_WAITALL),
                static_cast<ssize_t>(block.size()));
    }
  }

  int sender = -1, receiver = -1;
  std::string from, to;  // addresses of the sender and the receiver
};

}  // namespace fathom::fakes

#endif  // FATHOM_TESTS_FAKES_LOOPBACK_CONNECTION_H_
