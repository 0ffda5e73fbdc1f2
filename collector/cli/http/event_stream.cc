#include "collector/cli/http/event_stream.h"

#include <utility>

#include "collector/cli/http/http_client.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kMaxEventBytes = 8 * 1024 * 1024;

}  // namespace

std::vector<ServerEvent> EventDecoder::Feed(std::string_view bytes) {
  std::vector<ServerEvent> out;
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    line_.append(bytes.substr(0, newline));
    if (newline == std::string_view::npos) break;
    bytes.remove_prefix(newline + 1);
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    OnLine(line_, &out);
    line_.clear();
  }
  return out;
}

void EventDecoder::OnLine(std::string_view line, std::vector<ServerEvent>* out) {
  if (line.empty()) {
    if (has_data_) {
      if (next_.name.empty()) next_.name = "message";
      out->push_back(std::move(next_));
    }
    next_ = ServerEvent();
    has_data_ = false;
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == 0) return;  // a comment: the heartbeat
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (field == "event") next_.name = std::string(value);
  if (field == "data") {
    if (has_data_) next_.data.push_back('\n');
    next_.data.append(value);
    has_data_ = true;
  }
}

EventSubscription::EventSubscription(Socket socket)
    : socket_(std::move(socket)), parser_(ResponseParser::Limits()) {}

absl::StatusOr<EventSubscription> EventSubscription::Open(const HostPort& server,
                                                          std::string_view target,
                                                          Deadline deadline) {
  absl::StatusOr<Socket> socket = Socket::Connect(server, deadline);
  if (!socket.ok()) return socket.status();
  const std::string request = GetRequest(server, target, "text/event-stream");
  if (absl::Status s = socket->Write(request, deadline); !s.ok()) return s;
  return EventSubscription(*std::move(socket));
}

absl::StatusOr<std::vector<ServerEvent>> EventSubscription::Receive() {
  std::string bytes;
  absl::StatusOr<bool> open = socket_.ReadAvailable(&bytes);
  if (!open.ok()) return open.status();
  if (absl::Status s = parser_.Feed(bytes); !s.ok()) return s;
  if (parser_.headers_done() && parser_.status() != 200) {
    const std::string text = Cat("HTTP status ", parser_.status());
    return parser_.status() == 404 ? absl::NotFoundError(text) : absl::UnavailableError(text);
  }
  std::vector<ServerEvent> events = decoder_.Feed(parser_.TakeBody());
  if (decoder_.held_bytes() > kMaxEventBytes) {
    return absl::ResourceExhaustedError("an event is too long");
  }
  if ((!*open || parser_.done()) && events.empty()) {
    return absl::UnavailableError("the stream ended");
  }
  return events;
}

}  // namespace fathom::cli
