#include "collector/net/socket_owner.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace fathom::collector {
namespace {

constexpr std::uint8_t kEstablished = 1;  // TCP_ESTABLISHED of the kernel's states
constexpr timeval kPatience{1, 0};

struct Question {
  nlmsghdr header;
  inet_diag_req_v2 request;
};

class Netlink {
 public:
  Netlink() : fd_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)) {
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  }
  Netlink(const Netlink&) = delete;
  Netlink& operator=(const Netlink&) = delete;
  ~Netlink() {
    if (fd_ >= 0) close(fd_);
  }

  std::optional<inet_diag_msg> Ask(const Question& question) const {
    if (fd_ < 0 || send(fd_, &question, sizeof question, 0) != sizeof question) return std::nullopt;
    alignas(nlmsghdr) std::array<char, 4096> buffer;
    const ssize_t got = recv(fd_, buffer.data(), buffer.size(), 0);
    nlmsghdr header{};
    constexpr std::size_t kWhole = NLMSG_LENGTH(sizeof(inet_diag_msg));
    if (got < static_cast<ssize_t>(kWhole)) return std::nullopt;
    std::memcpy(&header, buffer.data(), sizeof header);
    if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || header.nlmsg_len < kWhole) return std::nullopt;
    inet_diag_msg message{};
    std::memcpy(&message, buffer.data() + NLMSG_HDRLEN, sizeof message);
    return message;
  }

 private:
  const int fd_;
};

std::optional<Question> Between(const TcpEnd& own, const TcpEnd& other) {
  const int family = own.address.find(':') == std::string::npos ? AF_INET : AF_INET6;
  Question ask{};
  ask.header.nlmsg_len = sizeof ask;
  ask.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  ask.header.nlmsg_flags = NLM_F_REQUEST;
  ask.request.sdiag_family = static_cast<std::uint8_t>(family);
  ask.request.sdiag_protocol = IPPROTO_TCP;
  inet_diag_sockid& id = ask.request.id;
  if (inet_pton(family, own.address.c_str(), id.idiag_src) != 1) return std::nullopt;
  if (inet_pton(family, other.address.c_str(), id.idiag_dst) != 1) return std::nullopt;
  id.idiag_sport = htons(static_cast<std::uint16_t>(own.port));
  id.idiag_dport = htons(static_cast<std::uint16_t>(other.port));
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return ask;
}

}  // namespace

std::optional<uid_t> SocketOwner(const TcpEnd& own, const TcpEnd& other) {
  const std::optional<Question> ask = Between(own, other);
  if (!ask) return std::nullopt;
  const std::optional<inet_diag_msg> told = Netlink().Ask(*ask);
  if (!told || told->idiag_state != kEstablished) return std::nullopt;
  const bool both = told->id.idiag_sport == ask->request.id.idiag_sport &&
                    told->id.idiag_dport == ask->request.id.idiag_dport;
  if (!both) return std::nullopt;
  return told->idiag_uid;
}

}  // namespace fathom::collector
