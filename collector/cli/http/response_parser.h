// Reads an HTTP/1.1 response as its bytes come in, and trusts none of them.
//
// Used by HttpClient (whole replies) and EventSubscription (endless ones).
// Model: Feed() bytes in any portions; the decoded body is taken out with TakeBody() as it grows.
//
//   status line -> headers -> body (Content-Length | chunked | until the peer closes) -> done
//
// Limits: header bytes, and body bytes not yet taken; more is an error, never an allocation.
// Thread-safety: thread-compatible. Errors: kInvalidArgument (not HTTP), kResourceExhausted
// (limit), kDataLoss (the peer closed early); after one the parser must not be fed again. Cost:
// O(bytes). Source: RFC 9112.
#ifndef FATHOM_COLLECTOR_CLI_HTTP_RESPONSE_PARSER_H_
#define FATHOM_COLLECTOR_CLI_HTTP_RESPONSE_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace fathom::cli {

class ResponseParser {
 public:
  struct Limits {
    std::size_t header_bytes = 64 * 1024;
    std::size_t body_bytes = 64 * 1024 * 1024;
  };

  explicit ResponseParser(Limits limits) : limits_(limits) {}

  absl::Status Feed(std::string_view bytes);
  // The peer closed the connection. Ok when the response is whole by then.
  absl::Status Finish();

  bool headers_done() const { return state_ > State::kHeaders; }
  bool done() const { return state_ == State::kDone; }
  int status() const { return status_; }
  // The value of a header, name in lower case; empty when there is none.
  std::string_view header(const std::string& lower_name) const;
  std::string TakeBody();

 private:
  enum class State {
    kStatus,
    kHeaders,
    kSized,
    kChunkSize,
    kChunk,
    kChunkEnd,
    kTrailer,
    kToClose,
    kDone
  };

  absl::Status Step(bool* progressed);
  absl::Status OnStatusLine(std::string_view line);
  absl::Status OnHeaderLine(std::string_view line);
  absl::Status OnHeadersEnd();
  absl::Status OnChunkSize(std::string_view line);
  absl::Status Append(std::size_t count);
  absl::Status StepLine(bool* progressed);

  Limits limits_;
  State state_ = State::kStatus;
  std::string pending_;  // bytes not understood yet
  std::string body_;
  std::map<std::string, std::string> headers_;
  std::size_t header_bytes_ = 0;
  std::uint64_t left_ = 0;  // of the sized body or the chunk
  int status_ = 0;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_HTTP_RESPONSE_PARSER_H_
