// What one agent's stream drives: a state machine over its messages, with no transport in it.
//
// Driven by AgentStream. AgentSession takes messages in itself; cluster/door_session passes on to
// the owners of jobs what is of theirs.
//
// Thread-safety: one message at a time. Errors: Outcome. Cost: as the session says.
#ifndef FATHOM_COLLECTOR_INGEST_STREAM_SESSION_H_
#define FATHOM_COLLECTOR_INGEST_STREAM_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace fathom::v1 {
class AgentMessage;
}

namespace fathom::collector {

class StreamSession {
 public:
  struct Outcome {
    bool greet = false;   // answer with a HelloReply
    std::string refused;  // goes into it; the stream closes
    bool close = false;
  };

  virtual ~StreamSession() = default;
  // It is known whose agent this is. Requires: before the first message.
  virtual void Authenticate() = 0;
  virtual Outcome OnMessage(const v1::AgentMessage& message) = 0;
  virtual std::uint64_t acknowledged() const = 0;  // highest number taken in
  // Once this record of the durable log is durable, all of that is.
  virtual std::uint64_t journaled() const = 0;
  // Likewise, once this record of the store of ops is settled.
  virtual std::uint64_t stored() const = 0;
  // Announcements of ranks on this stream that were taken in, as far as they are counted.
  virtual std::size_t ranks() const = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_INGEST_STREAM_SESSION_H_
