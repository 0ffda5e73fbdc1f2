#include "collector/net/listen_probe.h"

#include <absl/strings/str_cat.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "collector/net/masked_url.h"
#include "daemon/service/loopback.h"

namespace fathom::collector {
namespace {

std::string Advice(int error, const std::string& flag) {
  if (error == EADDRINUSE) {
    return absl::StrCat("stop the other process or choose another port with ", flag);
  }
  if (error == EACCES) return absl::StrCat("choose a port above 1023 with ", flag);
  return absl::StrCat("give an address of this machine with ", flag);
}

int TryBind(const addrinfo& info) {
  const int fd = socket(info.ai_family, info.ai_socktype, info.ai_protocol);
  if (fd < 0) return errno;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // A bind alone would not notice a listener that shares the port by SO_REUSEADDR.
  const bool bound = bind(fd, info.ai_addr, info.ai_addrlen) == 0 && listen(fd, 1) == 0;
  const int error = bound ? 0 : errno;
  close(fd);
  return error;
}

}  // namespace

absl::Status ParseHostPort(const std::string& address, HostPort& out) {
  const auto colon = address.rfind(':');
  const auto bad = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat("'", WithoutUser(address), "' is not HOST:PORT"));
  };
  if (colon == std::string::npos || colon == 0) return bad();
  out.host = address.substr(0, colon);
  if (out.host.front() == '[') {
    if (out.host.back() != ']' || out.host.size() < 3) return bad();
    out.host = out.host.substr(1, out.host.size() - 2);
  } else if (out.host.find(':') != std::string::npos) {
    return bad();
  }
  const char* first = address.data() + colon + 1;
  const char* last = address.data() + address.size();
  const auto [end, error] = std::from_chars(first, last, out.port);
  if (error != std::errc() || end != last || out.port < 0 || out.port > 65535) return bad();
  return absl::OkStatus();
}

absl::Status CheckAddress(const std::string& setting, const std::string& address, bool closed,
                          const std::string& what_closes) {
  HostPort where;
  if (auto status = ParseHostPort(address, where); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(setting, ": ", std::string(status.message())));
  }
  if (closed || service::IsLoopback(where.host)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(setting, ": ", address, " is reachable from outside; bind to 127.0.0.1, set ",
                   what_closes, ", or say --insecure"));
}

absl::Status ProbeListen(const std::string& address, const std::string& purpose,
                         const std::string& flag) {
  HostPort where;
  if (auto status = ParseHostPort(address, where); !status.ok()) return status;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int code =
      getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found);
  if (code != 0) {
    return absl::InvalidArgumentError(absl::StrCat("cannot listen on ", address, " for ", purpose,
                                                   ": ", gai_strerror(code), "; ",
                                                   Advice(0, flag)));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  const int error = TryBind(*found);
  if (error == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot listen on ", address, " for ", purpose, ": ",
                                             std::strerror(error), "; ", Advice(error, flag)));
}

}  // namespace fathom::collector
