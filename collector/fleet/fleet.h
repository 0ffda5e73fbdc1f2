// All simulated agents of a job, connected to one collector: a stream a node.
//
// Used by live_play; made by fathom-fleet and its experiment. Model: what is sent is queued and
// written by gRPC's threads; what the collector asks for waits for TakeRequests(). One thread uses
// a Fleet and sleeps on wake_fd() meanwhile.
//
//   Send ─► a queue a stream ─► collector ─► requests ─► TakeRequests
//                                         └► acknowledgements ─► Quiet
//
// Four streams share a connection, as many as a collector takes on one: a thousand nodes need 256
// sockets. Real agents have a connection each.
//
// Units: bytes as Protobuf has them, without gRPC's and TCP's frames. Thread-safety: of one thread.
// Errors: Connect says who does not answer or refuses; a stream that ends later is told by
// trouble(). Cost: gRPC's threads, some KiB a stream.
#ifndef FATHOM_COLLECTOR_FLEET_FLEET_H_
#define FATHOM_COLLECTOR_FLEET_FLEET_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "fathom/v1/agent.pb.h"

namespace fathom::simulate {

struct Traffic {
  std::uint64_t summaries = 0;     // bytes
  std::uint64_t rows = 0;          // replies
  std::uint64_t row_requests = 0;  // bytes of the requests
  std::uint64_t others = 0;        // what tells of nodes, ranks, communicators, health
  std::uint64_t requests = 0;      // how many
  std::uint64_t ops = 0;           // in the replies

  Traffic& operator+=(const Traffic& more) {
    summaries += more.summaries;
    rows += more.rows;
    row_requests += more.row_requests;
    others += more.others;
    requests += more.requests;
    ops += more.ops;
    return *this;
  }
};

class Fleet {
 public:
  struct Request {
    std::uint32_t node = 0;
    v1::RowsRequest rows;
  };

  // An agent a node, by the names of the nodes.
  Fleet(const std::string& collector, const std::vector<std::string>& nodes);
  ~Fleet();  // closes all streams and waits for them

  // All agents say hello and are greeted.
  absl::Status Connect(std::chrono::steady_clock::time_point deadline);
  void Send(std::uint32_t node, v1::AgentMessage message);
  // Everything that was sent has been taken by the collector.
  bool Quiet() const;
  std::vector<Request> TakeRequests();
  absl::Status trouble() const;
  // Readable when one of the above may have changed; ClearWake() resets it.
  int wake_fd() const;
  void ClearWake() const;
  const Traffic& traffic() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_FLEET_FLEET_H_
