// A TCP socket whose every call ends: at a deadline, when the probe is stopped, or with an error.
//
// Used by network/pair. Thread-safety: one thread. Ownership: owns its descriptor.
// Errors: false or a negative descriptor, with the reason in `error`.
#ifndef FATHOM_KERNELS_NETWORK_CONNECTION_H_
#define FATHOM_KERNELS_NETWORK_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/measure/bounds.h"

namespace fathom::kernels {

struct Segments {
  double sent = 0;
  double again = 0;  // sent once more
};

class Connection {
 public:
  // `deadline`: of WallSeconds().
  Connection(const Bounds& bounds, double deadline) : bounds_(bounds), deadline_(deadline) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  bool Connect(const std::string& host, const std::string& port);
  // Listens, tells the port, and takes the first who comes with Accept.
  bool Listen(const std::string& host, std::uint16_t& port);
  bool Accept();

  bool Send(const void* data, std::size_t bytes);
  bool Receive(void* data, std::size_t bytes);
  Segments Sent() const;
  const std::string& error() const { return error_; }

 private:
  bool Wait(int fd, short events);
  bool Fail(const std::string& what);

  const Bounds& bounds_;
  const double deadline_;
  int listening_ = -1;
  int fd_ = -1;
  std::string error_;
};

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_NETWORK_CONNECTION_H_
