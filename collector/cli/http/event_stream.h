// Server-sent events: the decoder of the text, and a subscription that fits into a poll loop.
//
// `fathom run` and `fathom watch` follow GET /api/v1/events with it.
// Model: EventSubscription::Open connects and asks; then, whenever fd() is readable, Receive()
// returns the events that became whole. It never waits. An error ends the subscription: make a new
// one after a while.
// Limits: an event of more than 8 MiB is an error.
// Thread-safety: thread-compatible. Errors: those of Socket and ResponseParser, kNotFound or
// kUnavailable for an HTTP status other than 200, kUnavailable when the stream ends.
// Source: WHATWG HTML, section 9.2 (id and retry fields are ignored).
#ifndef FATHOM_COLLECTOR_CLI_HTTP_EVENT_STREAM_H_
#define FATHOM_COLLECTOR_CLI_HTTP_EVENT_STREAM_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/cli/http/host_port.h"
#include "collector/cli/http/response_parser.h"
#include "collector/cli/http/socket.h"

namespace fathom::cli {

struct ServerEvent {
  std::string name;  // "message" when the sender gave none
  std::string data;
};

class EventDecoder {
 public:
  // Events that are whole after `bytes`.
  std::vector<ServerEvent> Feed(std::string_view bytes);
  // Bytes held for an event that is not whole yet.
  std::size_t held_bytes() const { return line_.size() + next_.data.size(); }

 private:
  void OnLine(std::string_view line, std::vector<ServerEvent>* out);

  std::string line_;
  ServerEvent next_;
  bool has_data_ = false;
};

class EventSubscription {
 public:
  static absl::StatusOr<EventSubscription> Open(const HostPort& server, std::string_view target,
                                                Deadline deadline);

  absl::StatusOr<std::vector<ServerEvent>> Receive();
  int fd() const { return socket_.fd(); }

 private:
  explicit EventSubscription(Socket socket);

  Socket socket_;
  ResponseParser parser_;
  EventDecoder decoder_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_HTTP_EVENT_STREAM_H_
