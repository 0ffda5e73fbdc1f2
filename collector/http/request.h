// A request and its answer, free of the HTTP library, so that the API is tested without sockets.
//
// Made by HttpServer, which asks Api only what whoever sent it may, and by CordonServer. Path
// segments and parameters are decoded. Thread-safety: plain values. Errors: ParseTarget gives
// nothing for a target that is not sane.
#ifndef FATHOM_COLLECTOR_HTTP_REQUEST_H_
#define FATHOM_COLLECTOR_HTTP_REQUEST_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/http/person.h"

namespace fathom::collector {

struct Request {
  static constexpr std::size_t kMaxBody = 4096;

  std::string method;
  std::string path;                   // as it came, without the query
  std::vector<std::string> segments;  // decoded; "/a/b" → a, b
  std::map<std::string, std::string> parameters;
  std::string if_none_match;
  std::string content_type;
  std::string body;   // of a POST, at most kMaxBody; empty where it is longer
  Person person;      // who asks, where that was looked at
  std::string token;  // with which they signed in; empty: without one

  // The parameter as a number; `otherwise` if it is not given; nothing if it is no number.
  std::optional<std::int64_t> Number(const std::string& name, std::int64_t otherwise) const;
  std::string Text(const std::string& name) const;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::string etag;
  std::string headers{};  // more of them, each with its line end
  bool form = false;      // a document with a form that may be sent here

  static Response Json(std::string body) { return {200, "application/json", std::move(body), ""}; }
  static Response Error(int status, std::string_view text);
};

// Fills method-independent parts from a request target. Nothing: over 4 KiB, bad escapes, NUL.
[[nodiscard]] std::optional<Request> ParseTarget(std::string_view path, std::string_view query);

// Whether a POST that says it comes from a page of `origin` comes from one that `host` served. True
// where it says nothing: no browser sent it.
[[nodiscard]] bool SameOrigin(std::string_view origin, std::string_view host,
                              const std::vector<std::string>& allowed);

// What a POST that is not JSON is answered; nothing for one that is. A page of another origin can
// send a POST, but not one of JSON.
std::optional<Response> RefusedUnlessJson(const Request& request);

// Whether `host` (a Host header, port allowed) names this machine's loopback or one of `allowed`.
[[nodiscard]] bool HostAllowed(std::string_view host, const std::vector<std::string>& allowed);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_HTTP_REQUEST_H_
