#include "daemon/service/stop_server.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace fathom::service {
namespace {

// Connects and hangs up.
void Touch(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  const int fd = socket(found->ai_family, found->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  [[maybe_unused]] const int ignored = connect(fd, found->ai_addr, found->ai_addrlen);
  close(fd);
}

}  // namespace

void StopServer(const std::string& host, int port, const std::function<void()>& stop) {
  std::atomic<bool> stopped{false};
  std::thread caller([bound = host == "localhost" ? "127.0.0.1" : host, port, &stopped] {
    while (!stopped) {
      Touch(bound, port);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  stop();
  stopped = true;
  caller.join();
}

}  // namespace fathom::service
