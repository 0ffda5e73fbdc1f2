// The network between two nodes: one serves, the other measures through one TCP connection.
//
// Used by suite/main (`--serve-pair`, `--pair`), started on two nodes by whoever compares pairs.
//
// Model: first small messages there and back, one at a time; then as much as goes through in one
// direction, then in the other. Loss is what the kernels of both ends sent again, of all segments
// that they sent. The server takes one client, who must know its token, and ends with it.
//
// Figures, of the node that measures: pair_latency (s, there and back, median), pair_latency_p95,
// pair_up, pair_down (B/s), pair_loss (ratio).
//
// Errors: skipped with the reason where no connection comes about; faulty where it breaks or stands
// still. Every call ends within its bounds. Cost: one connection, 256 KiB of memory.
#ifndef FATHOM_KERNELS_NETWORK_PAIR_H_
#define FATHOM_KERNELS_NETWORK_PAIR_H_

#include <cstdint>
#include <functional>
#include <string>

#include "kernels/measure/bounds.h"
#include "kernels/measure/figure.h"

namespace fathom::kernels {

struct PairAddress {
  std::string host;
  std::string port;
};

// "HOST:PORT", "[::1]:PORT"; false: it is neither.
bool ParsePairAddress(const std::string& text, PairAddress& address);

// Listens at `host` ("" is all addresses) on a port that the system gives; `ready` is told it.
ProbeResult ServePair(const Bounds& bounds, const std::string& host, const std::string& token,
                      const std::function<void(std::uint16_t port)>& ready);

ProbeResult MeasurePair(const Bounds& bounds, const PairAddress& server, const std::string& token);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_NETWORK_PAIR_H_
