// A small HTTP client over a plain socket: whole answers, and event streams read piece by piece.
//
// Used by the server tests. Thread-safety: thread-compatible. Errors: status 0 where there is no
// answer.
#ifndef FATHOM_TESTS_COLLECTOR_SERVER_HTTP_CLIENT_H_
#define FATHOM_TESTS_COLLECTOR_SERVER_HTTP_CLIENT_H_

#include <chrono>
#include <string>

namespace fathom::collector {

struct RawReply {
  int status = 0;
  std::string head;
  std::string body;
};

RawReply HttpGet(int port, const std::string& target, const std::string& host = "127.0.0.1",
                 const std::string& method = "GET");
// `headers`: each with its end of line; Host, Content-Length and Connection are added.
RawReply HttpRequest(int port, const std::string& method, const std::string& target,
                     const std::string& headers, const std::string& body = "");
// Sends bytes as they are and reads until the other side closes.
RawReply HttpRaw(int port, const std::string& bytes);

class EventReader {
 public:
  EventReader(int port, const std::string& target);
  ~EventReader();
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  // Waits until `text` has come, from where the last Wait left off. False: not in time, or over.
  bool Wait(const std::string& text, std::chrono::milliseconds patience = std::chrono::seconds(10));
  // Waits until the other side has closed.
  bool WaitOver(std::chrono::milliseconds patience = std::chrono::seconds(10));
  const std::string& seen() const { return seen_; }

 private:
  bool Fill(std::chrono::steady_clock::time_point deadline);
  int fd_ = -1;
  bool over_ = false;
  std::string seen_;
  std::size_t mark_ = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_TESTS_COLLECTOR_SERVER_HTTP_CLIENT_H_
