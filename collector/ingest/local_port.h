// The unix socket of agents on the collector's own machine.
//
// Made by AgentService beside its port, or instead of it. Model: the door asks the kernel whose
// process connects (SO_PEERCRED) before a byte is read, and lets in root, the collector's own user
// and `agent_users`. The server library does not tell the connections of a unix socket apart, so
// each user that is let in has a server of their own, made at their first connection: what comes
// in there is that user's, whatever it says of itself.
//
// Threads: the door's, gRPC's own. Thread-safety: thread-safe. Ownership: refers to context,
// streams and ids, which outlive it. Errors: Open says which path and why. Bounds: 1,024
// connections of a user, 64 users, 200 streams of a user within ten seconds, counted as the library
// reads them, then all of their connections are cut and new ones refused for a second; else as
// port_bounds. Cost: some 100 KB a user.
#ifndef FATHOM_COLLECTOR_INGEST_LOCAL_PORT_H_
#define FATHOM_COLLECTOR_INGEST_LOCAL_PORT_H_

#include <absl/status/statusor.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "collector/ingest/agent_session.h"
#include "collector/net/door.h"
#include "collector/net/local_agents.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class AgentStreams;

class LocalPort {
 public:
  struct Parts {
    IngestContext& context;
    AgentStreams& streams;
    std::atomic<std::uint64_t>& next_id;
    LocalAgents agents;
    std::string version;
    std::size_t max_streams;
    std::size_t max_connections;
    Door::Tell refused, cut;      // as the door's
    std::function<void()> began;  // a stream, of whatever service
    std::size_t max_users = 64;
  };

  static absl::StatusOr<std::unique_ptr<LocalPort>> Open(const std::string& path, Parts parts);
  ~LocalPort();  // ends all streams, within two seconds

  const std::string& path() const { return path_; }
  bool Answers(std::chrono::milliseconds patience) { return door_->Answers(patience); }

 private:
  class Gate;
  class UserServer;

  explicit LocalPort(Parts parts);
  void Take(int fd, int listener, const std::string& who);

  const Parts parts_;
  std::string path_;
  std::unique_ptr<Door> door_;
  service::Mutex mutex_;
  // Of a user; they refer to the door.
  std::map<std::string, std::unique_ptr<UserServer>> servers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_INGEST_LOCAL_PORT_H_
