#include "collector/cli/http/http_client.h"

#include "collector/cli/http/socket.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {

std::string PercentEncode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsAsciiAlnum(byte) || c == '-' || c == '.' || c == '_' || c == '~') {
      out.push_back(c);
    } else {
      constexpr char kHex[] = "0123456789ABCDEF";
      AppendTo(&out, "%", std::string{kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return out;
}

namespace {

std::string Authorization(const HostPort& server) {
  return server.token.empty() ? "" : Cat("\r\nAuthorization: Bearer ", server.token);
}

}  // namespace

std::string GetRequest(const HostPort& server, std::string_view target, std::string_view accept) {
  return Cat("GET ", target, " HTTP/1.1\r\nHost: ", server.ToString(), "\r\nAccept: ", accept,
             Authorization(server), "\r\nUser-Agent: fathom\r\nConnection: close\r\n\r\n");
}

absl::StatusOr<HttpReply> HttpClient::Get(std::string_view target) const {
  return Send(GetRequest(server_, target, "application/json"));
}

absl::StatusOr<HttpReply> HttpClient::Post(std::string_view target, std::string_view json) const {
  return Send(Cat("POST ", target, " HTTP/1.1\r\nHost: ", server_.ToString(),
                  Authorization(server_), "\r\nContent-Type: application/json\r\nContent-Length: ",
                  json.size(), "\r\nUser-Agent: fathom\r\nConnection: close\r\n\r\n", json));
}

absl::StatusOr<HttpReply> HttpClient::Send(const std::string& request) const {
  const Deadline deadline = In(options_.timeout);
  absl::StatusOr<Socket> socket = Socket::Connect(server_, deadline);
  if (!socket.ok()) return socket.status();
  if (absl::Status s = socket->Write(request, deadline); !s.ok()) return s;
  ResponseParser parser(options_.limits);
  while (!parser.done()) {
    std::string bytes;
    absl::StatusOr<bool> open = socket->Read(&bytes, deadline);
    if (!open.ok()) return open.status();
    const absl::Status fed = *open ? parser.Feed(bytes) : parser.Finish();
    if (!fed.ok()) return fed;
    // A peer that drips bytes for ever never lets Read() wait.
    if (!parser.done() && std::chrono::steady_clock::now() >= deadline) {
      return absl::DeadlineExceededError("no whole answer in time");
    }
  }
  double retry_after_s = 0;
  ReadNumber(parser.header("retry-after"), &retry_after_s);
  return HttpReply{parser.status(), parser.TakeBody(), retry_after_s};
}

}  // namespace fathom::cli
