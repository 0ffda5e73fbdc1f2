#include "daemon/agent/source/socket/tcp_sockets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace fathom::agent {
namespace {

constexpr std::uint32_t kEstablished = 1u << 1;  // TCP_ESTABLISHED of the kernel's states
constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kNsPerUs = 1'000;
constexpr timeval kPatience{1, 0};

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
  out.confirmed = info.tcpi_bytes_acked;
  out.received = info.tcpi_bytes_received;
  const std::uint64_t sending_us =
      info.tcpi_busy_time - std::min(info.tcpi_busy_time, info.tcpi_rwnd_limited);
  out.sending = Nanos(static_cast<std::int64_t>(sending_us) * kNsPerUs);
}

TcpSocket SocketOf(const nlmsghdr& header) {
  const auto& message = *static_cast<const inet_diag_msg*>(NLMSG_DATA(&header));
  TcpSocket out;
  out.inode = message.idiag_inode;
  out.family = message.idiag_family;
  static_assert(sizeof(out.id) == sizeof(message.id));
  std::memcpy(out.id.data(), &message.id, sizeof(message.id));
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

struct Question {
  nlmsghdr header;
  inet_diag_req_v2 request;
};

Question About(int family, int flags) {
  Question ask{};
  ask.header.nlmsg_len = sizeof(ask);
  ask.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  ask.header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
  ask.request.sdiag_family = static_cast<std::uint8_t>(family);
  ask.request.sdiag_protocol = IPPROTO_TCP;
  ask.request.idiag_ext = 1u << (INET_DIAG_INFO - 1);
  ask.request.idiag_states = kEstablished;
  return ask;
}

absl::Status Ask(int fd, const Question& ask) {
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
  if (absl::Status asked = Ask(fd, About(family, NLM_F_DUMP)); !asked.ok()) return asked;
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

absl::StatusOr<SocketTable> SocketTable::Open() {
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (fd < 0) return absl::ErrnoToStatus(errno, "sock_diag");
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  return SocketTable(fd);
}

absl::StatusOr<SocketTable> SocketTable::Own() { return Open(); }

absl::StatusOr<SocketTable> SocketTable::Of(const KernelRoots& roots, std::uint32_t pid) {
  const std::string path = absl::StrCat(roots.proc, "/", pid, "/ns/net");
  const int space = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (space < 0) return absl::ErrnoToStatus(errno, path);
  std::optional<absl::StatusOr<SocketTable>> table;
  std::thread([&] {
    if (setns(space, CLONE_NEWNET) == 0) {
      table.emplace(Open());
    } else {
      table.emplace(absl::ErrnoToStatus(errno, absl::StrCat("setns ", path)));
    }
  }).join();
  close(space);
  return *std::move(table);
}

SocketTable::~SocketTable() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<std::vector<TcpSocket>> SocketTable::Established() const {
  std::vector<TcpSocket> out;
  if (absl::Status four = Dump(fd_, AF_INET, out); !four.ok()) return four;
  (void)Dump(fd_, AF_INET6, out);  // a machine without IPv6 refuses
  return out;
}

absl::StatusOr<TcpSocket> SocketTable::Now(const TcpSocket& socket) const {
  Question ask = About(socket.family, 0);
  std::memcpy(&ask.request.id, socket.id.data(), sizeof(ask.request.id));
  if (absl::Status asked = Ask(fd_, ask); !asked.ok()) return asked;
  alignas(nlmsghdr) std::array<char, 4096> buffer;
  const ssize_t got = recv(fd_, buffer.data(), buffer.size(), 0);
  const auto* answer = reinterpret_cast<const nlmsghdr*>(buffer.data());
  if (got <= 0 || !NLMSG_OK(answer, static_cast<unsigned>(got))) {
    return absl::ErrnoToStatus(got < 0 ? errno : EPIPE, "sock_diag");
  }
  std::vector<TcpSocket> found;
  if (const auto taken = Take(*answer, found); !taken.ok()) return taken.status();
  if (found.empty()) return absl::NotFoundError("sock_diag: no such connection");
  return std::move(found.front());
}

absl::StatusOr<std::vector<TcpSocket>> EstablishedSockets() {
  const absl::StatusOr<SocketTable> own = SocketTable::Own();
  if (!own.ok()) return own.status();
  return own->Established();
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
