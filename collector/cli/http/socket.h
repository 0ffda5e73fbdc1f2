// A TCP connection, with TLS where the address says so, and a deadline on everything that could
// wait.
//
// Used by HttpClient and EventSubscription. Deadlines are of std::chrono::steady_clock.
// Thread-safety: thread-compatible. Ownership: Socket owns its descriptor (close-on-exec).
// Errors: kUnavailable (nobody there, or gone), kDeadlineExceeded, kInvalidArgument (no such host),
// those of TlsStream.
#ifndef FATHOM_COLLECTOR_CLI_HTTP_SOCKET_H_
#define FATHOM_COLLECTOR_CLI_HTTP_SOCKET_H_

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/cli/http/host_port.h"
#include "collector/cli/http/tls_stream.h"

namespace fathom::cli {

using Deadline = std::chrono::steady_clock::time_point;

inline Deadline In(std::chrono::milliseconds span) {
  return std::chrono::steady_clock::now() + span;
}

class Socket {
 public:
  static absl::StatusOr<Socket> Connect(const HostPort& to, Deadline deadline);

  Socket(Socket&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), tls_(std::move(other.tls_)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(tls_, other.tls_);
    return *this;
  }
  ~Socket();

  absl::Status Write(std::string_view bytes, Deadline deadline);
  // What there is, appended to `out`; waits for the first byte. False: the peer closed.
  absl::StatusOr<bool> Read(std::string* out, Deadline deadline);
  // The same without waiting; Ok(true) with nothing appended when nothing is there.
  absl::StatusOr<bool> ReadAvailable(std::string* out);

  int fd() const { return fd_; }

 private:
  explicit Socket(int fd) : fd_(fd) {}
  int fd_;
  std::unique_ptr<TlsStream> tls_;  // null: none
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_HTTP_SOCKET_H_
