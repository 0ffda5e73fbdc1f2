// A real nats-server with JetStream for a test, on a free port, its files in a folder of its own.
//
// Used by the tests of bus and cluster. Ends with the object. Errors: `reason` says why there is
// none, as where it is not installed. Thread-safety: of one thread.
#ifndef FATHOM_TESTS_COLLECTOR_BUS_NATS_SERVER_H_
#define FATHOM_TESTS_COLLECTOR_BUS_NATS_SERVER_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace fathom::collector {

class NatsServer {
 public:
  NatsServer() {
    char name[] = "/tmp/fathom-nats-XXXXXX";
    folder_ = mkdtemp(name);
    port_ = FreePort();
    std::ofstream(folder_ / "nats.conf")
        << "listen: 127.0.0.1:" << port_ << "\nmax_payload: 8MB\njetstream { store_dir: \""
        << folder_.string() << "/store\" }\n";
    Start();
  }
  ~NatsServer() {
    Stop();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  NatsServer(const NatsServer&) = delete;
  NatsServer& operator=(const NatsServer&) = delete;

  std::string url() const { return "nats://127.0.0.1:" + std::to_string(port_); }
  const std::string& reason() const { return reason_; }  // empty: it runs

  void Start() {
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const std::string log = folder_ / "log", settings = folder_ / "nats.conf";
      setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", 1);
      execlp("nats-server", "nats-server", "-c", settings.c_str(), "-l", log.c_str(), nullptr);
      _exit(127);
    }
    for (int i = 0; i < 1000; ++i) {
      if (Answers()) return;
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    reason_ = "nats-server does not run here; deploy/setup cluster installs it";
  }

  // As kill -9: what it has on the disk is what there is.
  void Stop() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  static sockaddr_in Loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
  }
  static int FreePort() {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof(address);
    bind(fd, reinterpret_cast<const sockaddr*>(&address), size);
    getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    close(fd);
    return ntohs(address.sin_port);
  }
  bool Answers() const {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = Loopback(port_);
    const bool up = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    close(fd);
    return up;
  }

  std::filesystem::path folder_;
  int port_ = 0;
  pid_t pid_ = -1;
  std::string reason_;
};

}  // namespace fathom::collector

#endif  // FATHOM_TESTS_COLLECTOR_BUS_NATS_SERVER_H_
