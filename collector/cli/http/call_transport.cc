#include "collector/cli/http/call_transport.h"

#include <chrono>

#include "collector/cli/http/access.h"
#include "collector/cli/http/http_client.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {

absl::StatusOr<collector::HttpAnswer> CallTransport::Send(const collector::HttpCall& call) {
  const std::string_view url = call.url;
  const std::size_t scheme = url.find("://");
  const std::size_t path = scheme == url.npos ? url.npos : url.find('/', scheme + 3);
  if (path == url.npos) return absl::InvalidArgumentError(Cat("'", url, "' is no address"));
  const auto server = ServerOf(url.substr(0, path), {.token_file = "", .ca_file = ca_file_});
  if (!server.ok()) return server.status();
  std::string request =
      Cat(call.method, " ", url.substr(path), " HTTP/1.1\r\nHost: ", server->ToString(),
          "\r\nConnection: close\r\nContent-Length: ", call.body.size());
  for (const std::string& header : call.headers) AppendTo(&request, "\r\n", header);
  AppendTo(&request, "\r\n\r\n", call.body);
  HttpClient::Options options;
  options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * call.timeout_s));
  const auto reply = HttpClient(*server, options).Send(request);
  if (!reply.ok()) return reply.status();
  return collector::HttpAnswer{reply->status, reply->body, reply->retry_after_s};
}

}  // namespace fathom::cli
