#include "daemon/agent/source/socket/tcp_sockets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace fathom::agent {
namespace {

constexpr std::uint32_t kEstablished = 1u << 1;  // TCP_ESTABLISHED of the kernel's states
constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr timeval kPatience{1, 0};

class Netlink {
 public:
  Netlink() : fd_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)) {
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  }
  Netlink(const Netlink&) = delete;
  Netlink& operator=(const Netlink&) = delete;
  ~Netlink() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

 private:
  const int fd_;
};

std::string Endpoint(int family, const std::uint32_t* address, std::uint16_t port) {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(family, address, text, sizeof(text));
  absl::string_view plain = text;
  // A connection of an IPv6 socket to an IPv4 address.
  const bool mapped = family == AF_INET6 && absl::ConsumePrefix(&plain, "::ffff:") &&
                      plain.find('.') != absl::string_view::npos;
  if (family == AF_INET6 && !mapped) return absl::StrCat("[", text, "]:", ntohs(port));
  return absl::StrCat(std::string(plain), ":", ntohs(port));
}

void TakeInfo(const rtattr& attribute, TcpSocket& out) {
  tcp_info info{};
  std::memcpy(&info, RTA_DATA(&attribute),
              std::min<std::size_t>(RTA_PAYLOAD(&attribute), sizeof(info)));
  out.backoff = info.tcpi_backoff;
  out.unacknowledged = info.tcpi_unacked;
  out.probes = info.tcpi_probes;
  out.since_received = Nanos(std::int64_t{info.tcpi_last_data_recv} * kNsPerMs);
}

TcpSocket SocketOf(const nlmsghdr& header) {
  const auto& message = *static_cast<const inet_diag_msg*>(NLMSG_DATA(&header));
  TcpSocket out;
  out.inode = message.idiag_inode;
  out.local = Endpoint(message.idiag_family, message.id.idiag_src, message.id.idiag_sport);
  out.peer = Endpoint(message.idiag_family, message.id.idiag_dst, message.id.idiag_dport);
  out.queued = message.idiag_wqueue;
  out.unread = message.idiag_rqueue;
  auto left = static_cast<int>(header.nlmsg_len - NLMSG_LENGTH(sizeof(message)));
  const auto* attribute = reinterpret_cast<const rtattr*>(&message + 1);
  for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
    if (attribute->rta_type == INET_DIAG_INFO) TakeInfo(*attribute, out);
  }
  return out;
}

absl::Status Ask(int fd, int family) {
  struct {
    nlmsghdr header;
    inet_diag_req_v2 request;
  } ask{};
  ask.header.nlmsg_len = sizeof(ask);
  ask.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  ask.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  ask.request.sdiag_family = static_cast<std::uint8_t>(family);
  ask.request.sdiag_protocol = IPPROTO_TCP;
  ask.request.idiag_ext = 1u << (INET_DIAG_INFO - 1);
  ask.request.idiag_states = kEstablished;
  return send(fd, &ask, sizeof(ask), 0) == static_cast<ssize_t>(sizeof(ask))
             ? absl::OkStatus()
             : absl::ErrnoToStatus(errno, "sock_diag");
}

// True: that was the last message of the dump.
absl::StatusOr<bool> Take(const nlmsghdr& header, std::vector<TcpSocket>& out) {
  if (header.nlmsg_type == NLMSG_DONE) return true;
  if (header.nlmsg_type == NLMSG_ERROR) {
    const auto* error = static_cast<const nlmsgerr*>(NLMSG_DATA(&header));
    return absl::ErrnoToStatus(-error->error, "sock_diag");
  }
  if (header.nlmsg_len >= NLMSG_LENGTH(sizeof(inet_diag_msg)) && out.size() < kMostSockets) {
    out.push_back(SocketOf(header));
  }
  return false;
}

absl::Status Dump(int fd, int family, std::vector<TcpSocket>& out) {
  if (absl::Status asked = Ask(fd, family); !asked.ok()) return asked;
  alignas(nlmsghdr) std::array<char, 32'768> buffer;
  while (true) {
    const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
    if (got <= 0) return absl::ErrnoToStatus(got == 0 ? EPIPE : errno, "sock_diag");
    auto left = static_cast<unsigned>(got);
    for (auto* at = reinterpret_cast<const nlmsghdr*>(buffer.data()); NLMSG_OK(at, left);
         at = NLMSG_NEXT(at, left)) {
      const absl::StatusOr<bool> done = Take(*at, out);
      if (!done.ok()) return done.status();
      if (*done) return absl::OkStatus();
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<TcpSocket>> EstablishedSockets() {
  const Netlink netlink;
  if (netlink.fd() < 0) return absl::ErrnoToStatus(errno, "sock_diag");
  std::vector<TcpSocket> out;
  if (absl::Status four = Dump(netlink.fd(), AF_INET, out); !four.ok()) return four;
  (void)Dump(netlink.fd(), AF_INET6, out);  // a machine without IPv6 refuses
  return out;
}

absl::StatusOr<std::set<std::uint64_t>> SocketsOf(const KernelRoots& roots, std::uint32_t pid) {
  const std::string folder = absl::StrCat(roots.proc, "/", pid, "/fd");
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), &closedir);
  if (open == nullptr) return absl::ErrnoToStatus(errno, folder);
  std::set<std::uint64_t> inodes;
  while (const dirent* entry = readdir(open.get())) {
    char target[64];
    const ssize_t n = readlinkat(dirfd(open.get()), entry->d_name, target, sizeof(target));
    if (n <= 0) continue;
    absl::string_view text(target, static_cast<std::size_t>(n));
    std::uint64_t inode = 0;
    if (absl::ConsumePrefix(&text, "socket:[") && absl::ConsumeSuffix(&text, "]") &&
        absl::SimpleAtoi(text, &inode)) {
      inodes.insert(inode);
    }
  }
  return inodes;
}

}  // namespace fathom::agent
