#include "collector/cli/http/host_port.h"

#include "absl/status/status.h"
#include "collector/cli/text/text.h"
#include "collector/net/masked_url.h"

namespace fathom::cli {
namespace {

absl::Status Bad(std::string_view text) {
  return absl::InvalidArgumentError(Cat("'", collector::WithoutUser(text),
                                        "' is not HOST:PORT; write for example 127.0.0.1:7070"));
}

}  // namespace

std::string HostPort::ToString() const {
  const bool v6 = host.find(':') != std::string::npos;
  return v6 ? Cat("[", host, "]:", port) : Cat(host, ":", port);
}

absl::StatusOr<HostPort> ParseHostPort(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return Bad(text);
  std::string_view host = text.substr(0, colon);
  std::uint32_t port = 0;
  if (!ReadNumber(text.substr(colon + 1), &port) || port > 65535) {
    return Bad(text);
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return Bad(text);
  }
  if (host.empty() || host.find_first_of(" \t\r\n/[]") != std::string_view::npos) return Bad(text);
  return HostPort{std::string(host), static_cast<std::uint16_t>(port)};
}

}  // namespace fathom::cli
